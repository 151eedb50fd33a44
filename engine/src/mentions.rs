//! Finds mentions of MCP tools, as `mcp__server__tool`.

use std::collections::BTreeSet;

const PREFIX: &str = "mcp__";

/// Maximum number of tools kept per file. More are a list, not instructions.
const MAX_PER_FILE: usize = 200;

/// Maximum length of a name. Clients have far lower limits.
const MAX_NAME_BYTES: usize = 256;

/// A tool, and where it is first mentioned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mentioned {
    /// Counted from 1.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
    pub server: String,
    pub tool: String,
}

/// Returns each tool mentioned in a text once, in order of appearance.
pub fn mentions(text: &str) -> Vec<Mentioned> {
    let mut found: Vec<Mentioned> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut cursor = Cursor { text, at: 0, line: 1, line_start: 0 };
    let mut end = 0;
    for at in memchr::memmem::find_iter(text.as_bytes(), PREFIX) {
        let Some(name) = (at >= end).then(|| name_at(text, at)).flatten() else { continue };
        end = at + name.len();
        let Some((server, tool)) = parts(name) else { continue };
        if !seen.insert(name) {
            continue;
        }
        cursor.advance_to(at);
        let (server, tool) = (server.to_owned(), tool.to_owned());
        found.push(Mentioned { line: cursor.line, column: cursor.column(), server, tool });
        if found.len() == MAX_PER_FILE {
            break;
        }
    }
    found
}

/// Returns the name that starts here, without trailing punctuation. `None` inside another word, and for prompts and
/// patterns.
fn name_at(text: &str, at: usize) -> Option<&str> {
    let before = text[..at].trim_end_matches('_');
    if before.ends_with(is_letter) {
        return None;
    }
    // Clients offer a server's prompts as `/mcp__server__prompt`.
    if before.strip_suffix('/').is_some_and(|before| !before.ends_with(is_letter)) {
        return None;
    }
    let is_part = |byte: &&u8| is_letter(char::from(**byte)) || matches!(byte, b'_' | b'-' | b'.');
    let length = text.as_bytes()[at..].iter().take(MAX_NAME_BYTES + 1).take_while(is_part).count();
    if length > MAX_NAME_BYTES {
        return None;
    }
    let (run, after) = text[at..].split_at(length);
    let is_emphasis = before.len() < at;
    let is_pattern = run.ends_with(['_', '-']) && after.starts_with(['*', '<', '{', '[', '$', '…']);
    (!is_pattern || is_emphasis).then(|| run.trim_end_matches(['_', '-', '.']))
}

/// Splits a name into server and tool. Splits at the last `__`, because clients choose server names freely.
fn parts(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix(PREFIX)?.rsplit_once("__")?;
    (server.contains(is_letter) && tool.contains(is_letter)).then_some((server, tool))
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric()
}

/// A position in a text that only moves forward.
struct Cursor<'text> {
    text: &'text str,
    at: usize,
    line: u32,
    line_start: usize,
}

impl Cursor<'_> {
    fn advance_to(&mut self, at: usize) {
        for (newline, _) in self.text[self.at..at].match_indices('\n') {
            self.line = self.line.saturating_add(1);
            self.line_start = self.at + newline + 1;
        }
        self.at = at;
    }

    fn column(&self) -> u32 {
        let before = self.text[self.line_start..self.at].chars().count();
        u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Server and tool of each mention.
    fn tools(text: &str) -> Vec<(String, String)> {
        mentions(text).into_iter().map(|found| (found.server, found.tool)).collect()
    }

    fn only(text: &str) -> Option<(String, String)> {
        let mut tools = tools(text);
        assert!(tools.len() <= 1, "{text}: {tools:?}");
        tools.pop()
    }

    fn pair(server: &str, tool: &str) -> (String, String) {
        (server.to_owned(), tool.to_owned())
    }

    #[test]
    fn a_name_is_found_wherever_people_write_one() {
        for text in [
            "mcp__github__get_issue",
            "Call mcp__github__get_issue.",
            "(`mcp__github__get_issue`)",
            "allowed-tools: Read, mcp__github__get_issue, Bash(git *)",
            "allowed-tools: [\"mcp__github__get_issue\"]",
            "  - mcp__github__get_issue\n",
            "**mcp__github__get_issue**",
            "**Use mcp__github__get_issue.**",
            "_mcp__github__get_issue_",
            "**_mcp__github__get_issue_**",
            "__mcp__github__get_issue__",
            "```js\nawait tools.mcp__github__get_issue({})\n```",
            "请使用mcp__github__get_issue工具",
            "Read/mcp__github__get_issue",
            "mcp__github__get_issue…",
            "mcp__github__get_issue\r\n",
        ] {
            assert_eq!(only(text), Some(pair("github", "get_issue")), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_name_is_ignored() {
        for text in [
            "",
            "mcp__",
            "mcp__github",
            "mcp__github__",
            "mcp____tool",
            "mcp______",
            "mcp__-__tool",
            "MCP__github__tool",
            "mcp_github_tool",
            "my_mcp__github__tool",
            "xmcp__github__tool",
            "/mcp__github__a_prompt",
            "`/mcp__github__a_prompt`",
            "mcp__github__*",
            "mcp__github__get_*",
            "mcp__github__<tool>",
            "mcp__github__get_{what}",
            "mcp__{server}__tool",
            "mcp__*__tool",
        ] {
            assert_eq!(only(text), None, "{text}");
        }
    }

    #[test]
    fn the_last_double_underscore_separates_server_and_tool() {
        for (text, server, tool) in [
            ("mcp__plugin_a_b__c", "plugin_a_b", "c"),
            ("mcp__a__b__c", "a__b", "c"),
            ("mcp__claude.ai-x__skill-resource", "claude.ai-x", "skill-resource"),
            ("mcp__sk__skills.list", "sk", "skills.list"),
            ("mcp__a___b", "a_", "b"),
        ] {
            assert_eq!(only(text), Some(pair(server, tool)), "{text}");
        }
    }

    #[test]
    fn each_tool_is_reported_once_at_its_first_mention() {
        let text = "---\nname: x\nallowed-tools: mcp__a__b\n---\n\né mcp__a__c and mcp__a__b, mcp__a__c\n\tmcp__d__b\n";
        let places: Vec<_> = mentions(text)
            .into_iter()
            .map(|found| (found.line, found.column, format!("{}/{}", found.server, found.tool)))
            .collect();
        assert_eq!(places, [(3, 16, "a/b".to_owned()), (6, 3, "a/c".to_owned()), (7, 2, "d/b".to_owned())]);
    }

    #[test]
    fn a_hostile_text_is_processed_quickly_with_few_results() {
        let many: String = (0..10_000).map(|number| format!("mcp__server__tool{number} ")).collect();
        assert_eq!(mentions(&many).len(), MAX_PER_FILE);
        for text in [
            "mcp__".repeat(200_000),
            "-mcp__".repeat(200_000),
            "mcp__a__b ".repeat(100_000),
            format!("mcp__{}__b", "a".repeat(1_000_000)),
            format!("{}mcp__a__b", "_".repeat(1_000_000)),
        ] {
            let found = mentions(&text);
            assert!(found.len() <= 1, "{}", found.len());
            assert!(found.iter().all(|found| found.server.len() + found.tool.len() < MAX_NAME_BYTES));
        }
    }

    proptest! {
        /// Whatever surrounds it, a mention is at the position it reports.
        #[test]
        fn a_mention_is_where_it_says(text in "(mcp__|[_a.b*é/ \n\r-]){0,40}") {
            let lines: Vec<&str> = text.split('\n').collect();
            let mut last = (0, 0);
            for Mentioned { line, column, server, tool } in mentions(&text) {
                prop_assert!(last < (line, column));
                last = (line, column);
                let rest: String = lines[line as usize - 1].chars().skip(column as usize - 1).collect();
                let name = format!("{PREFIX}{server}__{tool}");
                prop_assert!(rest.starts_with(&name), "{rest:?} {name:?}");
                prop_assert!(!tool.contains("__") && tool.ends_with(is_letter));
            }
        }

        #[test]
        fn any_valid_name_is_found(server in "[a-z][a-z0-9_.-]{0,10}[a-z]", tool in "[a-z]([_.-]?[a-z0-9]){0,10}") {
            let text = format!("Use `{PREFIX}{server}__{tool}` here.");
            prop_assert_eq!(only(&text), Some(pair(&server, &tool)));
        }
    }
}
