//! A script ends when its time is over, also one that spends it in the host.

use crate::say;
use std::fs;

pub fn spin() {
    say("began");
    loop {
        std::hint::black_box(());
    }
}

/// Few steps of its own, much work for the host.
pub fn spin_in_host() {
    say("began");
    let bytes = vec![1; 16 << 20];
    loop {
        fs::write("/tmp/large", &bytes).expect("there is room");
    }
}
