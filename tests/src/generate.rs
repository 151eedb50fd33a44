//! Generates libraries of any size. The same size always gives the same files.

use crate::{Numbers, write_files};
use std::fmt::Write as _;
use std::path::Path;

/// What all words consist of.
pub const SYLLABLES: [&str; 20] = [
    "ba", "co", "de", "fi", "gu", "ha", "jo", "ki", "lu", "me", "no", "pa", "qui", "ro", "su", "ta", "ve", "wi", "xo",
    "za",
];

impl Numbers {
    fn word(&mut self) -> String {
        (0..2 + self.below(3)).map(|_| SYLLABLES[self.below(SYLLABLES.len())]).collect()
    }

    fn text(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            let words: Vec<String> = (0..6 + self.below(9)).map(|_| self.word()).collect();
            let _ = write!(text, "{}. ", words.join(" "));
            if self.below(10) == 0 {
                let _ = write!(text, "\n\n## {}\n\n", self.word());
            }
        }
        text
    }
}

/// Writes this many skills of 2 to 6 KB, half of them folders and half of them in trees of categories. Returns a task that
/// matches one of the tree skills.
pub fn write_library(folder: &Path, skills: usize) -> String {
    let mut numbers = Numbers(42);
    let mut task = String::new();
    for number in 0..skills {
        let description: Vec<String> = (0..20).map(|_| numbers.word()).collect();
        let description = description.join(" ");
        let size = 2_000 + numbers.below(4_000);
        let body = numbers.text(size);
        let group = number % 50;
        if number % 2 == 0 {
            let text = format!("---\nname: skill-{number}\ndescription: {description}\nlicense: MIT\n---\n\n{body}\n");
            write_files(folder, &[(&format!("team{group}/skill-{number}/SKILL.md"), &text)]);
        } else {
            let mut keywords: Vec<String> = (0..2).map(|_| numbers.word()).collect();
            // Long enough to be unique.
            keywords.extend((0..4).map(|_| [numbers.word(), numbers.word(), numbers.word()].concat()));
            task = format!("write the {} of our component", keywords[2..].join(" and the "));
            let keywords = keywords.join(", ");
            let text = format!("---\nkeywords: [{keywords}]\ndescription: {description}\npriority: 1\n---\n\n{body}\n");
            write_files(folder, &[(&format!("area{group}/topic-{number}.md"), &text)]);
        }
    }
    for group in (0..50.min(skills)).filter(|group| group % 2 == 1) {
        let text =
            format!("---\nkeywords: [area{group}]\ndescription: Rules of area {group}\n---\n\n{}\n", numbers.text(500));
        write_files(folder, &[(&format!("area{group}/_index.md"), &text)]);
    }
    task
}
