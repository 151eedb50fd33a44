//! Links cannot lead outside, whether the skill has them or a script creates them.

use crate::{print, report};
use std::fs;

pub fn follow() {
    report("file", fs::read_to_string("/skill/link"));
    report("folder", fs::read_to_string("/skill/folder-link/secret.txt"));
    report("list", fs::read_dir("/skill/folder-link").map(Iterator::count));
    report("relative", fs::read_to_string("/skill/up/secret.txt"));
    report("dots", fs::read_to_string("/skill/folder-link/../secret.txt"));
    report("target", fs::read_link("/skill/link"));
    report("size", fs::metadata("/skill/link").map(|metadata| metadata.len()));
    report("copy", fs::copy("/skill/link", "/tmp/copy"));
    report("host", fs::read_dir("/skill/etc").map(Iterator::count));
}

#[expect(deprecated, reason = "the newer names belong to Unix")]
pub fn make() {
    report("link", fs::soft_link("/etc/passwd", "/tmp/link"));
    report("relative link", fs::soft_link("../../etc", "/tmp/up"));
    report("hard link", fs::hard_link("/skill/SKILL.md", "/tmp/hard"));
    report("link in skill", fs::soft_link("/etc", "/skill/planted"));
}

/// Reads folders that the test keeps swapping for a link out of the skill or the project.
pub fn race() {
    for folder in ["/skill", "/work"] {
        let mut honest = 0;
        for _ in 0..10_000 {
            match fs::read_to_string(format!("{folder}/race/secret.txt")) {
                Ok(text) if text == "fine" => honest += 1,
                Ok(text) => print(format!("BROKEN: {text}")),
                Err(_) => {}
            }
        }
        print(format!("held: honest {honest} in {folder}"));
    }
}
