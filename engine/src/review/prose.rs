//! Extracts the prose of a Markdown file, without code, front matter and comments.

use crate::fences::Fences;
use crate::skill;
use std::collections::BTreeMap;

/// A text in which everything else is blanked out, so that offsets and lines are unchanged.
pub struct Prose<'text> {
    pub text: String,
    /// The contents of each `<!-- -->`, with their offset.
    pub comments: Vec<(usize, &'text str)>,
}

pub fn prose(text: &str) -> Prose<'_> {
    let body = text.len() - skill::body_of(text).len();
    let mut blanks = Blanks(text.as_bytes().to_vec());
    blanks.put(0, body);
    blank_blocks(text, body, &mut blanks);
    let comments = blank_spans(text, body, &mut blanks);
    Prose { text: String::from_utf8(blanks.0).expect("only whole characters become blanks"), comments }
}

/// The bytes of a text, some of them blanked out.
struct Blanks(Vec<u8>);

impl Blanks {
    fn put(&mut self, start: usize, end: usize) {
        for byte in self.0[start..end].iter_mut().filter(|byte| **byte != b'\n') {
            *byte = b' ';
        }
    }
}

/// Blanks out fenced and indented code.
fn blank_blocks(text: &str, body: usize, blanks: &mut Blanks) {
    let mut fences = Fences::default();
    // `may_indent`: there is no open paragraph that an indented line would continue.
    let (mut may_indent, mut in_list, mut start) = (true, false, body);
    for line in text[body..].split_inclusive('\n') {
        let end = start + line.len();
        let is_empty = line.trim().is_empty();
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        if fences.take(without_container(line)) {
            blanks.put(start, end);
            may_indent = true;
        } else if is_indented && may_indent && !in_list {
            // Indented code continues until a line is not indented.
            blanks.put(start, end);
        } else {
            in_list = item(line).is_some() || in_list && (is_empty || line.starts_with([' ', '\t']));
            may_indent = is_empty;
        }
        start = end;
    }
}

/// Removes the quote and list markers of a line. Fenced code inside them counts at any indentation.
fn without_container(line: &str) -> &str {
    let line = line.trim_start_matches([' ', '\t', '>']);
    item(line).map_or(line, |inside| inside.trim_start_matches([' ', '\t']))
}

/// Returns what follows the list marker, if a line starts an item.
fn item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let after = line.strip_prefix(['-', '*', '+']).or_else(|| {
        let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        number.strip_prefix(['.', ')']).filter(|_| number.len() < line.len())
    });
    after.filter(|after| after.starts_with([' ', '\t']))
}

/// Blanks out code spans, `<pre>` elements and comments. Returns the comments.
fn blank_spans<'text>(text: &'text str, body: usize, blanks: &mut Blanks) -> Vec<(usize, &'text str)> {
    const OPEN: &str = "<!--";
    const CLOSE: &str = "-->";
    let mut comments = Vec::new();
    let mut paragraph = Paragraph::default();
    let (mut may_comment, mut may_quote) = (true, true);
    let mut at = body;
    while let Some(next) = memchr::memchr2(b'`', b'<', &blanks.0[at..]) {
        at += next;
        if blanks.0[at] == b'`' {
            if at >= paragraph.end {
                paragraph = Paragraph::at(&blanks.0, at);
            }
            let (end, is_code) = paragraph.span(at);
            if is_code {
                blanks.put(at, end);
            }
            at = end;
        } else if may_comment && text[at..].starts_with(OPEN) {
            let inside = at + OPEN.len();
            if let Some(length) = text[inside..].find(CLOSE) {
                comments.push((inside, &text[inside..inside + length]));
                blanks.put(at, inside + length + CLOSE.len());
                at = inside + length + CLOSE.len();
            } else {
                may_comment = false;
                at = inside;
            }
        } else if may_quote && begins_pre(&text.as_bytes()[at..]) {
            let end = end_of_pre(text, at);
            may_quote = end.is_some();
            blanks.put(at, end.unwrap_or(at));
            at = end.unwrap_or(at + 1);
        } else {
            at += 1;
        }
    }
    comments
}

fn begins_pre(text: &[u8]) -> bool {
    text.get(..4).is_some_and(|tag| tag.eq_ignore_ascii_case(b"<pre"))
        && text.get(4).is_some_and(|byte| *byte == b'>' || byte.is_ascii_whitespace())
}

/// Returns the end of the next `</pre>`.
fn end_of_pre(text: &str, start: usize) -> Option<usize> {
    const CLOSE: &[u8] = b"</pre>";
    let bytes = text.as_bytes();
    let mut ends = memchr::memchr_iter(b'<', &bytes[start..]).map(|at| (start + at, start + at + CLOSE.len()));
    ends.find(|(at, end)| bytes.get(*at..*end).is_some_and(|tag| tag.eq_ignore_ascii_case(CLOSE))).map(|(_, end)| end)
}

/// The backtick runs between two empty lines; runs pair only within a paragraph.
#[derive(Default)]
struct Paragraph {
    end: usize,
    /// Start and length of each run.
    runs: Vec<(usize, usize)>,
    /// For each length the position of its last run, to avoid searching for a partner that does not exist.
    last: BTreeMap<usize, usize>,
    next: usize,
}

impl Paragraph {
    fn at(bytes: &[u8], start: usize) -> Self {
        let mut end = start;
        loop {
            let line = &bytes[end..];
            let length = memchr::memchr(b'\n', line).map_or(line.len(), |newline| newline + 1);
            if line[..length].iter().all(u8::is_ascii_whitespace) {
                break;
            }
            end += length;
        }
        let (mut runs, mut at) = (Vec::new(), start);
        while let Some(next) = memchr::memchr(b'`', &bytes[at..end]) {
            let start = at + next;
            let length = bytes[start..end].iter().take_while(|byte| **byte == b'`').count();
            // A preceding backslash escapes the first backtick.
            let is_escaped = start > 0 && bytes[start - 1] == b'\\';
            runs.push((start + usize::from(is_escaped), length - usize::from(is_escaped)));
            at = start + length;
        }
        let last = runs.iter().enumerate().map(|(position, (_, length))| (*length, position)).collect();
        Self { end: end.max(start + 1), runs, last, next: 0 }
    }

    /// Returns the end of the code span that starts here, or of the run if it starts none.
    fn span(&mut self, at: usize) -> (usize, bool) {
        while self.runs.get(self.next).is_some_and(|(start, length)| start + length <= at) {
            self.next += 1;
        }
        let Some((start, length)) = self.runs.get(self.next).copied() else { return (at + 1, false) };
        if start > at {
            return (start, false);
        }
        let closes = |(_, other): &&(usize, usize)| *other == length;
        if self.last.get(&length).is_some_and(|last| *last > self.next) {
            let close = self.runs[self.next + 1..].iter().find(closes);
            return close.map_or((start + length, false), |(start, length)| (start + length, true));
        }
        (start + length, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The remaining words.
    fn words(text: &str) -> String {
        prose(text).text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn code_comments_and_front_matter_are_blank() {
        for (text, left) in [
            ("---\nname: x\n---\na", "a"),
            ("a `b` c", "a c"),
            ("a ``b ` c`` d", "a d"),
            ("a `b\nc` d", "a d"),
            ("a `b\n\nc` d", "a `b c` d"),
            ("a \\`b` c", "a \\`b` c"),
            ("a ``b` c", "a ``b` c"),
            ("a\n```\nb\n```\nc", "a c"),
            ("- a\n    ```\n    b\n    ```\n- c", "- a - c"),
            ("1. ```\n   b\n   ```\n2. c", "2. c"),
            ("> ```\n> b\n> ```\nc", "c"),
            ("a\n\n    b\n\nc", "a c"),
            ("a\n    b", "a b"),
            ("- a\n\n    b", "- a b"),
            ("a <!-- b --> c", "a c"),
            ("a <!-- b\n\nb --> c", "a c"),
            ("a `<!--` b --> c", "a b --> c"),
            ("a <!-- b", "a <!-- b"),
            ("é `è` ê", "é ê"),
            ("```\na\n```\n    b\nc", "c"),
            ("- a\n  ```\n  b\n  ```\n    c", "- a c"),
            ("a <pre>b\n\n`b</pre> c` d", "a c` d"),
            ("<PRE class=x>b\nb</Pre>c", "c"),
            ("a <pre>b", "a <pre>b"),
            ("a <prefix>b</prefix> </pre>", "a <prefix>b</prefix> </pre>"),
            ("a `<pre>` b </pre> c", "a b </pre> c"),
            ("``` a `b` c", "``` a c"),
        ] {
            assert_eq!(words(text), left, "{text:?}");
        }
    }

    #[test]
    fn comments_are_kept_with_their_place() {
        let text = "a <!-- b --> `<!-- code -->` <!---->\n";
        assert_eq!(prose(text).comments, [(6, " b "), (text.rfind("<!--").unwrap() + 4, "")]);
    }

    #[test]
    fn a_hostile_text_is_processed_quickly() {
        let growing: String = (1..1_200).map(|length| format!("{} ", "`".repeat(length))).collect();
        for text in
            ["`".repeat(500_000), "` ``".repeat(200_000), "<!--".repeat(200_000), "\\`".repeat(300_000), growing]
        {
            prose(&text);
        }
        for text in ["<pre>".repeat(200_000), "<pre></pre>".repeat(90_000), "</pre><pre>".repeat(90_000)] {
            prose(&text);
        }
    }

    proptest! {
        #[test]
        fn lines_and_offsets_are_unchanged(text in "(---\n)?[`~<!>é \n\\[\\]a-]{0,80}") {
            let left = prose(&text).text;
            prop_assert_eq!(left.len(), text.len());
            for (now, before) in left.bytes().zip(text.bytes()) {
                prop_assert!(now == before || now == b' ');
                prop_assert_eq!(now == b'\n', before == b'\n');
            }
        }
    }
}
