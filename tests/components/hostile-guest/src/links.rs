//! Links lead nowhere outside, whoever made them and whenever.

use crate::{say, tell};
use std::fs;

pub fn follow() {
    tell("file", fs::read_to_string("/skill/link"));
    tell("folder", fs::read_to_string("/skill/folder-link/secret.txt"));
    tell("list", fs::read_dir("/skill/folder-link").map(Iterator::count));
    tell("relative", fs::read_to_string("/skill/up/secret.txt"));
    tell("dots", fs::read_to_string("/skill/folder-link/../secret.txt"));
    tell("target", fs::read_link("/skill/link"));
    tell("size", fs::metadata("/skill/link").map(|metadata| metadata.len()));
    tell("copy", fs::copy("/skill/link", "/tmp/copy"));
    tell("host", fs::read_dir("/skill/etc").map(Iterator::count));
}

#[expect(deprecated, reason = "the newer names belong to Unix")]
pub fn make() {
    tell("link", fs::soft_link("/etc/passwd", "/tmp/link"));
    tell("relative link", fs::soft_link("../../etc", "/tmp/up"));
    tell("hard link", fs::hard_link("/skill/SKILL.md", "/tmp/hard"));
    tell("link in skill", fs::soft_link("/etc", "/skill/planted"));
}

/// Reads folders that somebody keeps swapping for a link out of the skill, and out of the project.
pub fn race() {
    for folder in ["/skill", "/work"] {
        let mut honest = 0;
        for _ in 0..10_000 {
            match fs::read_to_string(format!("{folder}/race/secret.txt")) {
                Ok(text) if text == "fine" => honest += 1,
                Ok(text) => say(format!("BROKEN: {text}")),
                Err(_) => {}
            }
        }
        say(format!("held: honest {honest} in {folder}"));
    }
}
