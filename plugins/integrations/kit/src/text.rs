//! Formats plain text for people and models.

/// Maximum number of characters of one answer. The limit of the host is 100,000.
pub const ANSWER_CHARS: usize = 60_000;

/// An answer built line by line: a heading, sections, items and details.
#[derive(Debug)]
pub struct Answer {
    text: String,
    chars: usize,
    left_out: usize,
    notes: Vec<String>,
}

impl Answer {
    pub fn new(heading: &str) -> Self {
        let mut answer = Self { text: String::new(), chars: 0, left_out: 0, notes: Vec::new() };
        answer.push(&line(heading));
        answer
    }

    /// Starts a section, after an empty line.
    pub fn section(&mut self, title: &str) -> &mut Self {
        self.push(&format!("\n{}", line(title)))
    }

    pub fn line(&mut self, text: &str) -> &mut Self {
        self.push(&line(text))
    }

    /// Adds an item of a list.
    pub fn item(&mut self, text: &str) -> &mut Self {
        self.push(&format!("- {}", line(text)))
    }

    /// Adds a line below the last item.
    pub fn detail(&mut self, text: &str) -> &mut Self {
        self.push(&format!("  {}", line(text)))
    }

    /// Adds a line of code, with its spaces.
    pub fn code(&mut self, code: &str) -> &mut Self {
        let code: String = code.chars().filter(|char| *char == '\t' || !char.is_control()).collect();
        self.push(&format!("  | {}", code.trim_end()))
    }

    /// Quotes text below the last item, truncated to `max` characters.
    pub fn quote(&mut self, text: &str, max: usize) -> &mut Self {
        let quoted = indented(&cut(&block(text), max), "  > ");
        if quoted.is_empty() { self } else { self.push(&quoted) }
    }

    /// Adds a note at the end of the answer.
    pub fn note(&mut self, text: &str) -> &mut Self {
        self.notes.push(line(text));
        self
    }

    /// Notes that a list is incomplete, if it is.
    pub fn note_cut(&mut self, is_cut: bool, shown: usize, things: &str) -> &mut Self {
        if is_cut { self.note(&format!("There are more: only the first {shown} {things} were read.")) } else { self }
    }

    pub fn finish(mut self) -> String {
        if self.left_out > 0 {
            let lines = count(self.left_out, "line");
            self.notes.push(format!("The answer was too long; {lines} of it are left out."));
        }
        for note in &self.notes {
            self.text.extend(["\n(", note, ")\n"]);
        }
        self.text.trim_end().to_owned()
    }

    fn push(&mut self, lines: &str) -> &mut Self {
        let chars = lines.chars().count() + 1;
        if self.left_out > 0 || self.chars + chars > ANSWER_CHARS {
            self.left_out += lines.trim().lines().count();
        } else {
            self.chars += chars;
            self.text.push_str(lines);
            self.text.push('\n');
        }
        self
    }
}

/// Puts text on one line: collapses white space and removes other control characters.
pub fn line(text: &str) -> String {
    let words = text.split(|char: char| char.is_whitespace() || char.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Cleans up text of several lines: removes control characters, trailing spaces, and empty lines around it or in a row.
pub fn block(text: &str) -> String {
    let mut block = String::with_capacity(text.len());
    let mut empty = false;
    for line in text.lines() {
        let line: String = line.chars().filter(|char| *char == '\t' || !char.is_control()).collect();
        let line = line.trim_end();
        if line.is_empty() {
            empty = true;
            continue;
        }
        if !block.is_empty() {
            block.push_str(if empty { "\n\n" } else { "\n" });
        }
        empty = false;
        block.push_str(line);
    }
    block
}

/// Truncates text to `max` characters, with a note on how many are missing.
pub fn cut(text: &str, max: usize) -> String {
    let Some((at, _)) = text.char_indices().nth(max) else { return text.to_owned() };
    let missing = text[at..].chars().count();
    format!("{}… ({} more)", text[..at].trim_end(), count(missing, "character"))
}

/// Prefixes each line.
pub fn indented(text: &str, by: &str) -> String {
    text.lines().map(|line| format!("{by}{line}").trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Formats a count, as in `1 comment` and `2 comments`.
pub fn count<N: TryInto<u64>>(number: N, thing: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    match (number, thing.strip_suffix('y')) {
        (1, _) => format!("1 {thing}"),
        (_, Some(stem)) if !thing.ends_with("ay") => format!("{number} {stem}ies"),
        _ => format!("{number} {thing}s"),
    }
}

/// Returns the first non-empty lines.
pub fn first_lines(text: &str, max: usize) -> String {
    block(text).lines().filter(|line| !line.is_empty()).take(max).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_answer_is_formatted_as_a_page() {
        let mut answer = Answer::new("2 comments on\npull request #42");
        answer.section("src/lib.rs").item("ada, 2 hours ago").quote("Why?\r\n\r\n\r\nIt \u{1b}[31mfails", 100);
        answer.item("bob").quote("   ", 10).detail("https://example.com").note_cut(true, 2, "comments");
        let expected = "2 comments on pull request #42\n\nsrc/lib.rs\n- ada, 2 hours ago\n  > Why?\n  >\n  > It [31mfails\n\
                        - bob\n  https://example.com\n\n(There are more: only the first 2 comments were read.)";
        assert_eq!(answer.finish(), expected);
    }

    #[test]
    fn a_long_answer_is_cut_with_a_note() {
        let mut answer = Answer::new("Lines");
        for _ in 0..20_000 {
            answer.item("a line of this list");
        }
        let text = answer.finish();
        assert!(text.chars().count() < ANSWER_CHARS + 100);
        assert!(text.ends_with("lines of it are left out.)"), "{}", &text[text.len() - 100..]);
    }

    #[test]
    fn truncated_text_says_how_much_is_missing() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äö üß", 3), "äö… (2 characters more)");
        assert_eq!(cut("ab", 1), "a… (1 character more)");
    }

    #[test]
    fn things_are_counted_in_english() {
        assert_eq!(
            (count(1, "reply"), count(0, "reply"), count(3_u64, "day")),
            ("1 reply".into(), "0 replies".into(), "3 days".into())
        );
    }

    proptest! {
        #[test]
        fn any_text_fits(text in "[\\PC\\n\\r\\t\u{1b}]{0,80}", max in 0..40_usize) {
            prop_assert!(!line(&text).contains('\n'));
            prop_assert!(!block(&text).contains("\n\n\n"));
            prop_assert!(cut(&text, max).chars().count() <= max + 40);
            let mut answer = Answer::new(&text);
            answer.section(&text).item(&text).code(&text).quote(&text, max);
            prop_assert!(answer.finish().chars().all(|char| char == '\n' || char == '\t' || !char.is_control()));
        }
    }
}
