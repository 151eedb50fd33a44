//! What a script holds in the host is limited: the server has files to open and memory to use, too.

use crate::say;
use std::fs::{self, File};

/// Opens a file of its skill again and again and closes nothing.
pub fn files() {
    let mut held = Vec::new();
    while let Ok(file) = File::open("/skill/SKILL.md") {
        held.push(file);
        if held.len() == 100_000 {
            say("BROKEN: nobody stops it");
            break;
        }
    }
    say("full");
    loop {
        std::hint::black_box(&held);
    }
}

/// Begins to list a full folder again and again and ends none of it.
pub fn listings() {
    for number in 0..900 {
        File::create(format!("/tmp/{number}{}", "x".repeat(250))).expect("there is room");
    }
    let mut held = Vec::new();
    while let Ok(listing) = fs::read_dir("/tmp") {
        held.push(listing);
        if held.len() == 4_000 {
            break;
        }
    }
    say(format!("listings: {}", held.len()));
}
