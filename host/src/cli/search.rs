//! `skillcell search`: lists skills that contain every word, as the tool `skills_search` does.

use super::Roots;
use crate::compose::{self, App};
use crate::config;
use base::printable::{Escapes, Shown, counted, printable};
use clap::Args;
use std::process::ExitCode;
use terminal::{self, Output, Tone};
use views::search::{DEFAULT_LIMIT, HitView, MAX_HITS, SearchView};

#[derive(Args)]
pub struct Search {
    /// The words that a skill must contain, in one argument or several
    #[arg(value_name = "QUERY", required = true)]
    query: Vec<String>,
    /// Show at most this many
    #[arg(long, value_name = "COUNT", default_value_t = DEFAULT_LIMIT, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_HITS)))]
    limit: u32,
    /// Print JSON in the format of the tool `skills_search`
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    roots: Roots,
}

pub fn run(arguments: Search) -> anyhow::Result<ExitCode> {
    let config = config::resolve(arguments.roots.cli_args())?;
    let (query, limit) = (arguments.query.join(" "), arguments.limit);
    let found = compose::with_app(config, async |app: &App| {
        Ok(SearchView::of(&app.catalog, query, app.config.surface.only_model, limit).await?)
    })?;
    if arguments.json {
        terminal::print_json(&found)?;
    } else {
        terminal::print_lines(&lines(&found, Output::standard()))?;
        if found.total == 0 {
            terminal::print_note(
                "no skill has all of these words\nhint: use fewer words, or `skillcell match` with the task",
            );
        }
    }
    Ok(ExitCode::from(u8::from(found.total == 0)))
}

/// On a terminal, each skill with its excerpt below; otherwise one tab-separated line per skill.
fn lines(found: &SearchView, output: Output) -> Vec<String> {
    let name = |hit: &HitView| printable(&hit.skill.display_name);
    if !output.is_terminal() {
        let line = |hit: &HitView| format!("{}\t{}\t{}", name(hit), hit.score, highlighted(&hit.excerpt, &[], output));
        return found.results.iter().map(line).collect();
    }
    let words: Vec<&str> = found.query.split_ascii_whitespace().collect();
    let entry = |hit: &HitView| {
        let score = output.paint(Tone::Faint, &format!("score {}", hit.score));
        let heading = format!("{}  {score}", output.paint(Tone::Heading, &name(hit)));
        let excerpt = hit.excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        [heading, format!("    {}", highlighted(&excerpt, &words, output)), String::new()]
    };
    let mut lines: Vec<String> = found.results.iter().flat_map(entry).collect();
    if found.total > 0 {
        let all = counted(found.total as usize, "matching skill");
        lines.push(format!("{} of {all}", found.results.len()));
    }
    lines
}

/// Escapes a text for display and highlights each of these words, ignoring case.
fn highlighted(text: &str, words: &[&str], output: Output) -> String {
    let fold =
        |text: &str| text.chars().map(|letter| letter.to_lowercase().next().unwrap_or(letter)).collect::<Vec<_>>();
    let (folded, mut is_match) = (fold(text), vec![false; text.chars().count()]);
    for word in words.iter().map(|word| fold(word)) {
        for at in 0..folded.len() {
            if folded[at..].starts_with(&word) {
                is_match[at..at + word.len()].fill(true);
            }
        }
    }
    let letters: Vec<(Shown, bool)> = Escapes::of(text).zip(is_match).collect();
    let piece = |piece: &[(Shown, bool)]| {
        let mut shown = String::new();
        for (letter, _) in piece {
            letter.add_to(&mut shown);
        }
        if piece[0].1 { output.paint(Tone::Match, &shown) } else { shown }
    };
    letters.chunk_by(|(_, left), (_, right)| left == right).map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_highlighted_in_any_case_and_control_characters_are_escaped() {
        let colorful = Output::colorful(80);
        assert_eq!(
            highlighted("a PDF\u{1b}[2J form", &["pdf", "form"], colorful),
            "a \x1b[1m\x1b[33mPDF\x1b[0m\\u{1b}[2J \x1b[1m\x1b[33mform\x1b[0m"
        );
        assert_eq!(highlighted("ÉTÉ été", &["été"], colorful), "\x1b[1m\x1b[33mÉTÉ\x1b[0m \x1b[1m\x1b[33mété\x1b[0m");
        assert_eq!(highlighted("aaa", &["aa"], colorful), "\x1b[1m\x1b[33maaa\x1b[0m", "overlaps are highlighted once");
        assert_eq!(highlighted("a PDF", &["pdf"], Output::plain()), "a PDF");
        assert_eq!(highlighted("", &["pdf"], colorful), "");
    }
}
