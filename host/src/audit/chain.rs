//! The lines of the record and its head: how they are written and read.

use crate::private::Key;
use crate::sha256::hex;
use serde_json::{Map, Value, json};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// The longest line, in bytes. Entries are made by us and bounded.
const LONGEST: u64 = 256 << 10;

/// One line with its place in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub number: u64,
    /// The code of the line before.
    pub before: String,
    pub code: String,
    pub text: String,
}

impl Line {
    pub fn new(key: &Key, number: u64, before: &str, mut entry: Map<String, Value>) -> Self {
        entry.insert("number".to_owned(), json!(number));
        entry.insert("before".to_owned(), json!(before));
        let code = code_of(key, &entry);
        entry.insert("code".to_owned(), json!(code));
        let text = format!("{}\n", Value::Object(entry));
        Self { number, before: before.to_owned(), code, text }
    }

    /// A line as it stands in the file. Whether its code is right is another question.
    pub fn read(text: &str) -> Option<Self> {
        let entry: Map<String, Value> = serde_json::from_str(text).ok()?;
        let field = |name: &str| entry.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = entry.get("number").and_then(Value::as_u64)?;
        Some(Self { number, before: field("before")?, code: field("code")?, text: text.to_owned() })
    }

    /// Whether it is the line after another one.
    pub fn follows(&self, key: &Key, number: u64, code: &str) -> bool {
        self.number == number + 1 && self.before == code && self.is_genuine(key)
    }

    /// Whether the line is as somebody with the key wrote it.
    pub fn is_genuine(&self, key: &Key) -> bool {
        let Ok(mut entry) = serde_json::from_str::<Map<String, Value>>(&self.text) else { return false };
        entry.remove("code");
        // Compared as text, so that nothing can hide in how it is written.
        let again = {
            let mut full = entry.clone();
            full.insert("code".to_owned(), json!(self.code));
            Value::Object(full).to_string()
        };
        self.text.trim_end() == again && code_of(key, &entry) == self.code
    }
}

fn code_of(key: &Key, entry: &Map<String, Value>) -> String {
    let text = Value::Object(entry.clone()).to_string();
    hex(&key.code(&[b"line", text.as_bytes()]))
}

/// Where the record begins and ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    pub first: u64,
    /// The code that the first line carries of the one before it.
    pub before_first: String,
    pub last: u64,
    /// The code of the last line.
    pub code: String,
    /// How long the file with the last line is. If it is longer, a line did not reach the head.
    pub length: u64,
}

impl Head {
    pub fn text(&self, key: &Key) -> String {
        let Self { first, before_first, last, code, length } = self;
        let plain = json!({
            "first": first, "before_first": before_first, "last": last, "code": code, "length": length,
        });
        let plain = plain.to_string();
        let proof = hex(&key.code(&[b"head", plain.as_bytes()]));
        json!({"head": plain, "proof": proof}).to_string()
    }

    /// Nothing if somebody without the key wrote it.
    pub fn read(key: &Key, text: &str) -> Option<Self> {
        let outer: Value = serde_json::from_str(text).ok()?;
        let plain = outer.get("head")?.as_str()?;
        if hex(&key.code(&[b"head", plain.as_bytes()])) != outer.get("proof")?.as_str()? {
            return None;
        }
        let head: Value = serde_json::from_str(plain).ok()?;
        let text = |name: &str| head.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name: &str| head.get(name).and_then(Value::as_u64);
        Some(Self {
            first: number("first")?,
            before_first: text("before_first")?,
            last: number("last")?,
            code: text("code")?,
            length: number("length")?,
        })
    }
}

/// The one whole line that a file has from some place on.
pub fn line_after(path: &Path, start: u64) -> io::Result<Option<Line>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(start))?;
    let mut tail = String::new();
    let read = file.take(LONGEST).read_to_string(&mut tail);
    Ok(read.ok().and_then(|_| tail.strip_suffix('\n')).filter(|line| !line.contains('\n')).and_then(Line::read))
}

pub fn first_line(path: &Path) -> io::Result<Option<Line>> {
    let mut text = String::new();
    BufReader::new(File::open(path)?.take(LONGEST)).read_line(&mut text)?;
    Ok(Line::read(text.trim_end()))
}
