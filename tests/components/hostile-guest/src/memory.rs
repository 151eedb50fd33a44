//! A script takes no more memory than it may.

use crate::say;

pub fn eat() {
    say("began");
    let mut eaten = Vec::new();
    loop {
        eaten.push(vec![1_u8; 1 << 20]);
        std::hint::black_box(&eaten);
    }
}
