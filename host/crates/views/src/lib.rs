//! JSON shapes that MCP tools, commands and the page of `skillcell ui` share.
//!
//! Owns how skills, problems, files, policies and results of runs look as JSON. Must not know who asks: no MCP types, no terminal, no HTTP.
//!
//! Start reading with [`skill`], the shape that lists and searches extend.

pub mod skill;
pub mod problem;
pub mod found;
pub mod list;
pub mod search;
pub mod tree;
pub mod run;

/// Length of a text in JSON, without making it.
pub fn json_length(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 2,
        0..=0x1f => 6,
        _ => 1,
    };
    2 + text.bytes().map(escaped).sum::<usize>()
}
