//! Bodies that are too long to be read in one go.

use super::Found;
use crate::place::Place;
use crate::problem::Finding;
use crate::skill;

/// What the Agent Skills format advises at most, in lines and in tokens.
const MOST_LINES: usize = 500;
const MOST_TOKENS: usize = 5_000;

pub fn long_body(text: &str) -> Option<Found> {
    let body = skill::body_of(text);
    let (lines, tokens) = (body.lines().count(), tokens(body));
    if lines <= MOST_LINES && tokens <= MOST_TOKENS {
        return None;
    }
    let message = format!(
        "the body has {lines} lines and about {tokens} tokens; {MOST_LINES} lines and {MOST_TOKENS} tokens are advised at most"
    );
    let advice = "move what is not always needed to files of its own, as in `references/`, and mention them";
    let start = Place::of(text, text.len() - body.len());
    Some(Finding::warning("long-body", message, advice).at(start).into())
}

/// About as many as models count: four letters of English, two of most others.
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
