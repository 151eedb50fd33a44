//! The memory of a script is limited.

use crate::print;

pub fn allocate() {
    print("began");
    let mut blocks = Vec::new();
    loop {
        blocks.push(vec![1_u8; 1 << 20]);
        std::hint::black_box(&blocks);
    }
}
