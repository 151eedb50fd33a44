//! Formats the explanation of a match for the terminal.

use crate::cli::table::{aligned, end_of};
use base::printable::{printable, printable_up_to};
use catalog::scorers::explanation::{Explanation, Given, Ranked, Refused, Thresholds};
use terminal::{Output, Tone};

/// The longest line, in characters: a common terminal width.
const MAX_LINE_LENGTH: usize = 100;

/// The longest skill name in the table, in characters.
const MAX_NAME_LENGTH: usize = 44;

/// A table with a row and reasons for each candidate, and how the answer was decided.
pub fn lines(explanation: &Explanation, output: Output) -> Vec<String> {
    let mut lines = vec![String::new()];
    lines.extend(table(explanation, output));
    if explanation.candidates.is_empty() {
        lines.push("no scorer found a match".to_owned());
    }
    lines.push(String::new());
    lines.extend(decision(explanation));
    for Refused { scorer, reason } in &explanation.failures {
        lines.push(format!("`{}` gave no answer: {reason}", printable(scorer)));
    }
    lines
}

fn table(explanation: &Explanation, output: Output) -> Vec<String> {
    let Some(best) = explanation.candidates.first() else { return Vec::new() };
    let mark = |scorer: &str| if scorer == explanation.decides { format!("{scorer} *") } else { scorer.to_owned() };
    let header = best.scores.iter().map(|given| printable(&mark(&given.scorer)));
    let header: Vec<String> = [String::new(), "skill".to_owned()].into_iter().chain(header).collect();
    let row = |(index, ranked): (usize, &Ranked)| {
        let numbers = ranked.scores.iter().map(|given| format!("{:.3}", given.score));
        let name = end_of(&printable(&ranked.skill_path), MAX_NAME_LENGTH);
        [(index + 1).to_string(), name].into_iter().chain(numbers).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(header).chain(explanation.candidates.iter().enumerate().map(row)).collect();
    let mut lines = aligned(&rows).into_iter();
    let heading = lines.next().map(|heading| output.paint(Tone::Heading, &heading));
    let mut table: Vec<String> = heading.into_iter().collect();
    for (line, ranked) in lines.zip(&explanation.candidates) {
        table.push(line);
        table.extend(reasons(ranked).iter().map(|reason| output.paint(Tone::Faint, reason)));
    }
    table
}

/// Which scorer decided, and by which thresholds.
fn decision(explanation: &Explanation) -> Vec<String> {
    let failed = format!(", because `{}` failed", printable(&explanation.chosen));
    let because = if explanation.decides == explanation.chosen { "" } else { &failed };
    let mut lines = vec![format!("* `{}` decides{because}", printable(&explanation.decides))];
    let Thresholds { min_score, ambiguity_threshold, max_results } = explanation.thresholds;
    lines.push(format!(
        "an answer needs a score of {min_score} (min_score), and a lead of {ambiguity_threshold} (ambiguity_threshold)"
    ));
    lines.push(format!("with a smaller lead, up to {} candidates are returned (max_results)", max_results.max(2)));
    if let [best, second, ..] = &explanation.candidates[..] {
        lines.push(format!("the best has {:.3} and leads by {:.3}", best.score, best.score - second.score));
    }
    lines
}

/// One line per scorer that gave a reason.
fn reasons(ranked: &Ranked) -> Vec<String> {
    let width = ranked.scores.iter().map(|given| given.scorer.chars().count()).max().unwrap_or_default();
    let with_reason = ranked.scores.iter().filter(|given| !given.reason.is_empty());
    let line = |given: &Given| {
        let max_length = MAX_LINE_LENGTH.saturating_sub(width + 8);
        format!("     {:<width$}  {}", printable(&given.scorer), printable_up_to(&given.reason, max_length))
    };
    with_reason.map(line).collect()
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
    fn the_table_marks_the_deciding_scorer_and_gives_every_reason() {
        let lines = super::lines(&explanation(), Output::plain());
        assert_eq!(
            lines[1..4],
            ["   skill     keyword  bm25 *", "1  ui/login  0.500    0.750", "     bm25     name: login"]
        );
        assert!(lines.iter().all(|line| line.chars().count() <= MAX_LINE_LENGTH), "{lines:#?}");
        for part in ["* `bm25` decides", "leads by 0.625", "(min_score)", "`mine` gave no answer: it traps"] {
            assert!(lines.iter().any(|line| line.contains(part)), "{part}: {lines:#?}");
        }
    }

    #[test]
    fn a_scorer_that_failed_does_not_decide() {
        let failed = Explanation { chosen: "mine".to_owned(), ..explanation() };
        assert!(lines(&failed, Output::plain()).contains(&"* `bm25` decides, because `mine` failed".to_owned()));
    }
}
