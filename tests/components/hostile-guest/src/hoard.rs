//! Resources of the host that a script keeps open are limited, because the server needs files and memory as well.

use crate::print;
use std::fs::{self, File};

/// Opens a file of its skill repeatedly without closing it.
pub fn files() {
    let mut open = Vec::new();
    while let Ok(file) = File::open("/skill/SKILL.md") {
        open.push(file);
        if open.len() == 100_000 {
            print("BROKEN: there is no limit");
            break;
        }
    }
    print("full");
    loop {
        std::hint::black_box(&open);
    }
}

/// Starts to list a full folder repeatedly without finishing.
pub fn listings() {
    for number in 0..900 {
        File::create(format!("/tmp/{number}{}", "x".repeat(250))).expect("there is space");
    }
    let mut open = Vec::new();
    while let Ok(listing) = fs::read_dir("/tmp") {
        open.push(listing);
        if open.len() == 4_000 {
            break;
        }
    }
    print(format!("listings: {}", open.len()));
}
