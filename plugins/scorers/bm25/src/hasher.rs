//! A fast hash for short words, the same in every run: there is no source of random numbers here.

use std::hash::{BuildHasherDefault, Hasher};

pub type BuildWordHasher = BuildHasherDefault<WordHasher>;

/// FNV-1a.
pub struct WordHasher(u64);

impl Default for WordHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
