//! The formats of lines and of the head.

use base::digest::hex;
use base::user_files::Key;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// Entries are written by this program and bounded.
const MAX_LINE_BYTES: u64 = 256 << 10;

/// One line and its position in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub number: u64,
    /// The code of the previous line.
    pub before: String,
    pub code: String,
    pub text: String,
}

impl Line {
    pub fn new(key: &Key, number: u64, before: &str, mut entry: Map<String, Value>) -> Self {
        entry.insert("number".to_owned(), json!(number));
        entry.insert("before".to_owned(), json!(before));
        let mut entry = Value::Object(entry);
        let code = code_of(key, &entry);
        entry["code"] = json!(code);
        let text = format!("{entry}\n");
        Self { number, before: before.to_owned(), code, text }
    }

    /// Parses a line without checking its code; [`Line::is_genuine`] does that.
    pub fn read(text: &str) -> Option<Self> {
        let entry: Map<String, Value> = serde_json::from_str(text).ok()?;
        let field = |name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = entry.get("number").and_then(Value::as_u64)?;
        Some(Self { number, before: field("before")?, code: field("code")?, text: text.to_owned() })
    }

    /// Whether this is a genuine line that directly follows the one with this number and code.
    pub fn follows(&self, key: &Key, number: u64, code: &str) -> bool {
        self.number == number + 1 && self.before == code && self.is_genuine(key)
    }

    /// Whether the line is unchanged since it was written with this key.
    pub fn is_genuine(&self, key: &Key) -> bool {
        let Ok(mut entry) = serde_json::from_str::<Value>(&self.text) else { return false };
        // Compared as text, so that formatting and duplicate keys cannot hide a change.
        let text = entry.to_string();
        let is_verbatim = self.text.trim_end() == text;
        entry.as_object_mut().and_then(|entry| entry.remove("code"));
        is_verbatim && code_of(key, &entry) == self.code
    }
}

fn code_of(key: &Key, entry: &Value) -> String {
    hex(&key.sign(&[b"line", entry.to_string().as_bytes()]))
}

/// Where the record starts and ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub first: u64,
    /// The code of the deleted line before the first one.
    pub before_first: String,
    pub last: u64,
    /// The code of the last line.
    pub code: String,
    /// The length of the current file. A longer file contains a line that the head does not know.
    pub length: u64,
}

impl Head {
    pub fn text(&self, key: &Key) -> String {
        let plain = json!(self).to_string();
        let proof = hex(&key.sign(&[b"head", plain.as_bytes()]));
        json!({"head": plain, "proof": proof}).to_string()
    }

    /// Returns `None` if it was not written with this key.
    pub fn read(key: &Key, text: &str) -> Option<Self> {
        let outer: Value = serde_json::from_str(text).ok()?;
        let plain = outer.get("head")?.as_str()?;
        if hex(&key.sign(&[b"head", plain.as_bytes()])) != outer.get("proof")?.as_str()? {
            return None;
        }
        serde_json::from_str(plain).ok()
    }
}

/// Reads the line from `start` to the end of the file, if it is exactly one complete line.
pub fn line_after(path: &Path, start: u64) -> io::Result<Option<Line>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    let mut tail = String::new();
    let read = file.take(MAX_LINE_BYTES).read_to_string(&mut tail);
    Ok(read.ok().and_then(|_| tail.strip_suffix('\n')).filter(|line| !line.contains('\n')).and_then(Line::read))
}

pub fn first_line(path: &Path) -> io::Result<Option<Line>> {
    let mut text = String::new();
    BufReader::new(File::open(path)?.take(MAX_LINE_BYTES)).read_line(&mut text)?;
    Ok(Line::read(text.trim_end()))
}
