//! `skillcell search`: skills that contain every word, as the tool `skills_search` finds them.

use super::Roots;
use super::open::{self, Opened};
use crate::config;
use crate::mcp::tools::skills_search::{HitView, MOST_HITS, SearchView, USUAL_LIMIT};
use crate::printable::{counted, escaped, printable};
use crate::terminal::{self, Output, Tone};
use clap::Args;
use std::process::ExitCode;

#[derive(Args)]
pub struct Search {
    /// Words that a skill must all have, in one argument or in several
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Show at most this many
    #[arg(long, value_name = "COUNT", default_value_t = USUAL_LIMIT, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_HITS)))]
    limit: u32,
    /// Print JSON, as the tool `skills_search` answers
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    roots: Roots,
}

pub fn run(arguments: Search) -> anyhow::Result<ExitCode> {
    let config = config::resolve(arguments.roots.told())?;
    let (query, limit) = (arguments.query.join(" "), arguments.limit);
    let found = open::once(config, async |opened: &Opened| {
        Ok(SearchView::of(&opened.catalog, query, opened.config.surface.only_model, limit).await?)
    })?;
    if arguments.json {
        terminal::print_json(&found)?;
    } else {
        terminal::print_lines(&lines(&found, Output::standard()))?;
        if found.total == 0 {
            terminal::note(
                "no skill has all of these words\nhint: leave some out, or ask `skillcell match` for the task",
            );
        }
    }
    Ok(ExitCode::from(u8::from(found.total == 0)))
}

/// For people the skills with what was found below each; for programs a line for each, with tabs.
fn lines(found: &SearchView, output: Output) -> Vec<String> {
    let name = |hit: &HitView| printable(&hit.skill.shown_name);
    if !output.is_terminal() {
        let line = |hit: &HitView| format!("{}\t{}\t{}", name(hit), hit.score, marked(&hit.excerpt, &[], output));
        return found.results.iter().map(line).collect();
    }
    let words: Vec<&str> = found.query.split_ascii_whitespace().collect();
    let entry = |hit: &HitView| {
        let score = output.toned(Tone::Faint, &format!("score {}", hit.score));
        let heading = format!("{}  {score}", output.toned(Tone::Heading, &name(hit)));
        let excerpt = hit.excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        [heading, format!("    {}", marked(&excerpt, &words, output)), String::new()]
    };
    let mut lines: Vec<String> = found.results.iter().flat_map(entry).collect();
    if found.total > 0 {
        let all = counted(found.total as usize, "matching skill");
        lines.push(format!("{} of {all}", found.results.len()));
    }
    lines
}

/// A text as it can be shown, with each of these words marked. The case does not matter.
fn marked(text: &str, words: &[&str], output: Output) -> String {
    let fold =
        |text: &str| text.chars().map(|letter| letter.to_lowercase().next().unwrap_or(letter)).collect::<Vec<_>>();
    let (folded, mut found) = (fold(text), vec![false; text.chars().count()]);
    for word in words.iter().map(|word| fold(word)) {
        for at in 0..folded.len() {
            if folded[at..].starts_with(&word) {
                found[at..at + word.len()].fill(true);
            }
        }
    }
    let letters: Vec<(char, bool)> = text.chars().zip(found).collect();
    let piece = |piece: &[(char, bool)]| {
        let shown: String = piece.iter().flat_map(|(letter, _)| escaped(*letter)).collect();
        if piece[0].1 { output.toned(Tone::Found, &shown) } else { shown }
    };
    letters.chunk_by(|(_, left), (_, right)| left == right).map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_marked_whatever_their_case_and_nothing_of_the_text_is_a_command_of_the_terminal() {
        let colourful = Output::colourful(80);
        assert_eq!(
            marked("a PDF\u{1b}[2J form", &["pdf", "form"], colourful),
            "a \x1b[1;33mPDF\x1b[0m\\u{1b}[2J \x1b[1;33mform\x1b[0m"
        );
        assert_eq!(marked("ÉTÉ été", &["été"], colourful), "\x1b[1;33mÉTÉ\x1b[0m \x1b[1;33mété\x1b[0m");
        assert_eq!(marked("aaa", &["aa"], colourful), "\x1b[1;33maaa\x1b[0m", "what overlaps is marked once");
        assert_eq!(marked("a PDF", &["pdf"], Output::plain()), "a PDF");
        assert_eq!(marked("", &["pdf"], colourful), "");
    }
}
