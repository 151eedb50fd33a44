//! Why a task is answered as it is, for people.

use crate::cli::table::{aligned, end_of};
use crate::printable::{printable, printable_up_to};
use crate::scorers::explanation::{Explanation, Given, Ranked, Refused, Thresholds};
use crate::terminal::{Output, Tone};

/// Longest line, in characters: what a terminal usually has.
const LINE: usize = 100;

/// Longest name of a skill in the table, in characters.
const NAME: usize = 44;

impl Explanation {
    /// A table with a row for each candidate, the reasons below it, and what led to the answer.
    pub fn lines(&self, output: Output) -> Vec<String> {
        let mut lines = vec![String::new()];
        lines.extend(self.table(output));
        if self.candidates.is_empty() {
            lines.push("no scorer finds anything".to_owned());
        }
        lines.push(String::new());
        lines.extend(self.verdict());
        for Refused { scorer, reason } in &self.failures {
            lines.push(format!("`{}` gave no answer: {reason}", printable(scorer)));
        }
        lines
    }

    fn table(&self, output: Output) -> Vec<String> {
        let Some(best) = self.candidates.first() else { return Vec::new() };
        let mark = |scorer: &str| if scorer == self.decides { format!("{scorer} *") } else { scorer.to_owned() };
        let header = best.scores.iter().map(|given| printable(&mark(&given.scorer)));
        let header: Vec<String> = [String::new(), "skill".to_owned()].into_iter().chain(header).collect();
        let row = |(place, ranked): (usize, &Ranked)| {
            let numbers = ranked.scores.iter().map(|given| format!("{:.3}", given.score));
            let name = end_of(&printable(&ranked.skill_path), NAME);
            [(place + 1).to_string(), name].into_iter().chain(numbers).collect::<Vec<_>>()
        };
        let rows: Vec<Vec<String>> =
            std::iter::once(header).chain(self.candidates.iter().enumerate().map(row)).collect();
        let mut lines = aligned(&rows).into_iter();
        let heading = lines.next().map(|heading| output.toned(Tone::Heading, &heading));
        let mut shown: Vec<String> = heading.into_iter().collect();
        for (line, ranked) in lines.zip(&self.candidates) {
            shown.push(line);
            shown.extend(ranked.reasons().iter().map(|reason| output.toned(Tone::Faint, reason)));
        }
        shown
    }

    /// Who decided, and which thresholds led to the answer.
    fn verdict(&self) -> Vec<String> {
        let failed = format!(", because `{}` failed", printable(&self.chosen));
        let because = if self.decides == self.chosen { "" } else { &failed };
        let mut lines = vec![format!("* `{}` decides{because}", printable(&self.decides))];
        let Thresholds { min_score, ambiguity_threshold, max_results } = self.thresholds;
        lines.push(format!(
            "an answer needs a score of {min_score} (min_score), and a lead of {ambiguity_threshold} (ambiguity_threshold)"
        ));
        lines.push(format!("with less of a lead, up to {} are shown to choose from (max_results)", max_results.max(2)));
        if let [best, second, ..] = &self.candidates[..] {
            lines.push(format!("the best has {:.3} and leads by {:.3}", best.score, best.score - second.score));
        }
        lines
    }
}

impl Ranked {
    /// One line for each scorer that gave a reason.
    fn reasons(&self) -> Vec<String> {
        let width = self.scores.iter().map(|given| given.scorer.chars().count()).max().unwrap_or_default();
        let with_reason = self.scores.iter().filter(|given| !given.reason.is_empty());
        let line = |given: &Given| {
            let room = LINE.saturating_sub(width + 8);
            format!("     {:<width$}  {}", printable(&given.scorer), printable_up_to(&given.reason, room))
        };
        with_reason.map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explanation() -> Explanation {
        let given =
            |scorer: &str, score, reason: &str| Given { scorer: scorer.to_owned(), score, reason: reason.to_owned() };
        let ranked = |path: &str, first: f64, reason: &str| Ranked {
            skill_path: path.to_owned(),
            score: first,
            min_score: 0.2,
            scores: vec![given("keyword", 0.5, ""), given("bm25", first, reason)],
        };
        Explanation {
            decides: "bm25".to_owned(),
            chosen: "bm25".to_owned(),
            thresholds: Thresholds { min_score: 0.2, ambiguity_threshold: 0.1, max_results: 3 },
            candidates: vec![ranked("ui/login", 0.75, "name: login"), ranked("pdf", 0.125, &"long ".repeat(100))],
            failures: vec![Refused { scorer: "mine".to_owned(), reason: "it traps".to_owned() }],
        }
    }

    #[test]
    fn a_table_names_who_decides_and_gives_every_reason() {
        let lines = explanation().lines(Output::plain());
        assert_eq!(
            lines[1..4],
            ["   skill     keyword  bm25 *", "1  ui/login  0.500    0.750", "     bm25     name: login"]
        );
        assert!(lines.iter().all(|line| line.chars().count() <= LINE), "{lines:#?}");
        for part in ["* `bm25` decides", "leads by 0.625", "(min_score)", "`mine` gave no answer: it traps"] {
            assert!(lines.iter().any(|line| line.contains(part)), "{part}: {lines:#?}");
        }
    }

    #[test]
    fn a_scorer_that_failed_does_not_decide() {
        let failed = Explanation { chosen: "mine".to_owned(), ..explanation() };
        assert!(failed.lines(Output::plain()).contains(&"* `bm25` decides, because `mine` failed".to_owned()));
    }
}
