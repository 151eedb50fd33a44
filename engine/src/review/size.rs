//! Bodies that are longer than recommended.

use super::Diagnostic;
use crate::place::Place;
use crate::problem::Finding;
use crate::skill;

/// The limits that the Agent Skills format recommends.
const MAX_LINES: usize = 500;
const MAX_TOKENS: usize = 5_000;

pub fn long_body(text: &str) -> Option<Diagnostic> {
    let body = skill::body_of(text);
    let (lines, tokens) = (body.lines().count(), tokens(body));
    if lines <= MAX_LINES && tokens <= MAX_TOKENS {
        return None;
    }
    let message = format!(
        "the body has {lines} lines and about {tokens} tokens; {MAX_LINES} lines and {MAX_TOKENS} tokens are recommended at most"
    );
    let advice = "move what is not always needed to separate files, as in `references/`, and reference them";
    let start = Place::of(text, text.len() - body.len());
    Some(Finding::warning("long-body", message, advice).at(start).into())
}

/// Estimates the number of tokens: four ASCII characters each, or two others.
fn tokens(text: &str) -> usize {
    let others = if text.is_ascii() { 0 } else { text.chars().filter(|letter| !letter.is_ascii()).count() };
    let ascii = if others == 0 { text.len() } else { text.bytes().filter(u8::is_ascii).count() };
    ascii / 4 + others / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_long_by_its_lines_or_its_tokens() {
        let front = "---\nname: a\n---\n";
        for (body, is_long) in [
            (String::new(), false),
            ("x\n".repeat(500), false),
            ("x\n".repeat(501), true),
            ("word ".repeat(4_000), false),
            ("word ".repeat(4_001), true),
            ("文".repeat(10_000), false),
            ("文".repeat(10_004), true),
        ] {
            let found = long_body(&format!("{front}{body}"));
            assert_eq!(found.is_some(), is_long, "{}", body.len());
            assert!(found.is_none_or(|found| found.finding.line == Some(4)));
        }
    }
}
