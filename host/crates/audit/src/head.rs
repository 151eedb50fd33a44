//! The head of earlier versions, which had one ring and kept its state beside the lines. It is still written, because servers
//! of an earlier version may share the record, and read once, to take over a record of theirs.

use crate::chain::text_of;
use crate::disk;
use crate::state::RingState;
use base::digest::hex;
use base::user_files::Key;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io;
use std::path::Path;

/// The head is padded to this length.
const HEAD_BYTES: usize = 512;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub first: u64,
    pub before_first: String,
    pub last: u64,
    pub code: String,
    pub length: u64,
}

impl Head {
    pub fn of(ring: &RingState) -> Self {
        let RingState { first, before_first, last, code, length, .. } = ring.clone();
        Self { first, before_first, last, code, length }
    }

    /// Returns `None` if the head is missing or forged.
    pub fn read(path: &Path, key: &Key) -> io::Result<Option<Self>> {
        Ok(disk::existing(std::fs::read(path))?.and_then(|bytes| Self::parse(&bytes, key)))
    }

    fn parse(bytes: &[u8], key: &Key) -> Option<Self> {
        let outer: Value = serde_json::from_slice(bytes).ok()?;
        let plain = outer.get("head")?.as_str()?;
        if hex(&key.sign(&[b"head", plain.as_bytes()])) != outer.get("proof")?.as_str()? {
            return None;
        }
        serde_json::from_str(plain).ok()
    }

    pub fn write(&self, path: &Path, key: &Key) -> io::Result<()> {
        disk::overwrite(path, 0, self.text(key).as_bytes())
    }

    pub fn text(&self, key: &Key) -> String {
        let plain = text_of(self);
        let proof = hex(&key.sign(&[b"head", plain.as_bytes()]));
        format!("{:<HEAD_BYTES$}", json!({"head": plain, "proof": proof}).to_string())
    }
}
