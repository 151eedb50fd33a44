//! Finds `@path` references to files in the text of a skill.

use crate::bindings::exports::skillcell::plugin::catalog::Reference;
use crate::fences::Fences;
use crate::paths;
use crate::skill;

/// Maximum number of references, and of paths that are tried.
const MAX_REFERENCES: usize = 10_000;

/// Maximum length of a path. All common systems open paths of this length, but not all longer ones.
const MAX_PATH_BYTES: usize = 1_024;

/// Returns the references in the text of a skill's file, in order. `has_file` checks whether a clean path is one of its
/// files.
pub fn references(text: &str, has_file: impl Fn(&str) -> bool) -> Vec<Reference> {
    let mut search = Search { text, has_file, tries_left: MAX_REFERENCES, found: Vec::new() };
    let mut fences = Fences::default();
    let body = text.len() - skill::body_of(text).len();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        // Front matter is not Markdown, so it cannot open a fence.
        if start < body || !fences.take(line) {
            search.line(start, end);
        }
        start = end;
    }
    search.found
}

struct Search<'text, HasFile> {
    text: &'text str,
    has_file: HasFile,
    tries_left: usize,
    found: Vec<Reference>,
}

impl<HasFile: Fn(&str) -> bool> Search<'_, HasFile> {
    fn line(&mut self, mut start: usize, end: usize) {
        while self.tries_left > 0
            && let Some(at) = self.text[start..end].find('@')
        {
            let mark = start + at;
            start = mark + 1;
            let before = self.text[..mark].chars().next_back();
            if before.is_none_or(|letter| letter.is_whitespace() || matches!(letter, '(' | '"' | '\'' | '`')) {
                start = self.mention(start, end).unwrap_or(start);
            }
        }
    }

    /// Records the reference whose path starts here, if any, and returns where it ends.
    fn mention(&mut self, start: usize, end: usize) -> Option<usize> {
        let rest = &self.text[start..end];
        let rest = &rest[..rest.floor_char_boundary(MAX_PATH_BYTES)];
        let mut path = rest.split(ends_path).next()?;
        loop {
            self.tries_left = self.tries_left.checked_sub(1)?;
            let file = paths::clean(path).filter(|file| !paths::is_hidden(file));
            if let Some(file) = file.filter(|file| (self.has_file)(file)) {
                let end = start + path.len();
                self.found.push(Reference { start: start.try_into().ok()?, end: end.try_into().ok()?, file });
                return Some(end);
            }
            path = shorter(path)?;
        }
    }
}

/// Whether a path ends before this character.
pub fn ends_path(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '"' | '\'' | '`' | '<' | '>')
}

/// Removes a trailing character that may belong to the sentence: punctuation, or a parenthesis and all that follows.
pub fn shorter(path: &str) -> Option<&str> {
    path.strip_suffix(['.', ',', ';', ':', ')']).or_else(|| path.rfind(')').map(|end| &path[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILES: [&str; 7] = ["a.md", "docs/a.md", "docs/b.md.", "été.md", "a(1).md", "script", "a.md,"];

    /// Each referenced span and its file.
    fn found(text: &str) -> Vec<(&str, String)> {
        let references = references(text, |file| FILES.contains(&file));
        references
            .into_iter()
            .map(|reference| (&text[reference.start as usize..reference.end as usize], reference.file))
            .collect()
    }

    fn files(text: &str) -> Vec<String> {
        found(text).into_iter().map(|(_, file)| file).collect()
    }

    #[test]
    fn a_reference_starts_after_a_line_start_space_parenthesis_or_quote() {
        for text in [
            "@a.md",
            "see @a.md now",
            "(@a.md)",
            "\"@a.md\"",
            "'@a.md'",
            "`@a.md`",
            "x\n@a.md",
            "\t@a.md",
            "x\r\n@a.md\r\n",
        ] {
            assert_eq!(files(text), ["a.md"], "{text:?}");
        }
        for text in ["me@a.md", "/@a.md", "@@a.md", "[@a.md]", "@ a.md", "@missing.md", "@docs", "", "@"] {
            assert_eq!(files(text), [""; 0], "{text:?}");
        }
    }

    #[test]
    fn trailing_punctuation_is_dropped_unless_such_a_file_exists() {
        assert_eq!(found("See @docs/a.md. Then"), [("docs/a.md", "docs/a.md".to_owned())]);
        assert_eq!(found("See @docs/b.md."), [("docs/b.md.", "docs/b.md.".to_owned())]);
        assert_eq!(
            found("(see @docs/a.md); @script:"),
            [("docs/a.md", "docs/a.md".to_owned()), ("script", "script".to_owned())]
        );
        assert_eq!(found("(@a(1).md)."), [("a(1).md", "a(1).md".to_owned())]);
        assert_eq!(
            found("[x](@docs/a.md)[y](@été.md)"),
            [("docs/a.md", "docs/a.md".to_owned()), ("été.md", "été.md".to_owned())]
        );
        assert_eq!(found("@a.md,, @a.md.,"), [("a.md,", "a.md,".to_owned()), ("a.md", "a.md".to_owned())]);
        assert_eq!(found("<x>@a.md</x> @a.md</x>"), [("a.md", "a.md".to_owned())]);
    }

    #[test]
    fn paths_are_normalized_and_never_leave_the_folder() {
        assert_eq!(found("@./docs//a.md"), [("./docs//a.md", "docs/a.md".to_owned())]);
        let everything = |text| references(text, |_| true).len();
        for text in ["@../a.md", "@/etc/passwd", "@a/../../b", "@C:/x", "@.env", "@a/.git/x", "@..\\x", "@..."] {
            assert_eq!(everything(text), 0, "{text}");
        }
    }

    #[test]
    fn fenced_code_has_no_references() {
        let fenced = |open: &str, close: &str| format!("@a.md\n{open}\n@docs/a.md\n{close}\n@script\n");
        for (open, close) in [
            ("```", "```"),
            ("~~~ py", "~~~~"),
            ("   ```js", "  ````  "),
            ("````", "`````"),
            ("~~~`", "~~~"),
            ("```\r", "```\r"),
        ] {
            assert_eq!(files(&fenced(open, close)), ["a.md", "script"], "{open} {close}");
        }
        for (open, close) in [("```", "~~~"), ("````", "```"), ("```", "``` x"), ("```", "    ```"), ("~~~", "")] {
            assert_eq!(files(&fenced(open, close)), ["a.md"], "{open} {close}");
        }
        for (open, close) in [("    ```", ""), ("``", ""), ("``` a`b", ""), ("> ```", "")] {
            assert_eq!(files(&fenced(open, close)), ["a.md", "docs/a.md", "script"], "{open} {close}");
        }
    }

    #[test]
    fn front_matter_has_references_and_opens_no_fence() {
        let text = "\u{feff}---\nname: x\ndescription: see @a.md\nnote: |\n```\n---\n@script\n";
        assert_eq!(files(text), ["a.md", "script"]);
        let reference = &references(text, |file| file == "a.md")[0];
        assert_eq!(reference.start as usize, text.find("a.md").unwrap());
    }

    #[test]
    fn a_hostile_text_is_processed_quickly() {
        for text in
            ["(@".repeat(500_000), " @a".repeat(300_000), format!("@{}", ")".repeat(1_000_000)), "@a) ".repeat(9_000)]
        {
            let tried = std::cell::Cell::new(0);
            let found = references(&text, |_| {
                tried.set(tried.get() + 1);
                false
            });
            assert_eq!(found, []);
            assert!(tried.get() <= MAX_REFERENCES);
        }
        assert_eq!(references(&"@a ".repeat(2 * MAX_REFERENCES), |_| true).len(), MAX_REFERENCES);
    }

    proptest! {
        #[test]
        fn references_are_sorted_and_on_character_boundaries(text in "(---\n)?[@a.)(\"'`~ \n\r\té/,-]{0,60}") {
            let mut last = 0;
            for reference in references(&text, |file| file.len() % 2 == 1) {
                let (start, end) = (reference.start as usize, reference.end as usize);
                prop_assert!(last < start && start < end);
                prop_assert_eq!(&text[start - 1..start], "@");
                prop_assert_eq!(paths::clean(&text[start..end]), Some(reference.file));
                last = end;
            }
        }
    }
}
