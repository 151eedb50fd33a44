//! The time limit ends a script, even if it spends its time in the host.

use crate::print;
use std::fs;

pub fn spin() {
    print("began");
    loop {
        std::hint::black_box(());
    }
}

/// Uses little fuel, but makes much work for the host.
pub fn spin_in_host() {
    print("began");
    let bytes = vec![1; 16 << 20];
    loop {
        fs::write("/tmp/large", &bytes).expect("there is room");
    }
}
