//! What a caller can do after a run that did not do what was wanted.

use crate::CompletedRun;
use base::printable::quoted;

/// Lines of a script in which its usage is looked for.
const MAX_SOURCE_LINES: usize = 200;

/// Lines of a usage text.
const MAX_USAGE_LINES: usize = 12;

/// In bytes, of a usage text.
const MAX_USAGE_BYTES: usize = 1_500;

/// How scripts read their arguments in the languages that are known here.
const ARGUMENT_READERS: [&str; 7] = ["sys.argv", "argparse", "click", "process.argv", "parseArgs", "$1", "$@"];

impl CompletedRun {
    /// Says what to do next, if that is known.
    pub fn hint(&self) -> Option<String> {
        let mut hints = Vec::new();
        if self.finished.exit_code != 0 && self.finished.limit_hit.is_none() {
            hints.extend(self.missing_arguments());
        }
        if let Some(Err((path, error))) = &self.saved {
            hints.push(format!("`{path}` could not be saved: {error}"));
        }
        if !self.outputs.unmatched.is_empty() {
            hints.push(format!("the script wrote no file that matches {}", quoted(&self.outputs.unmatched)));
        }
        if self.outputs.files.is_empty() && self.outputs.in_tmp > 0 {
            hints.push("files in /tmp come back only if `outputs` names them, such as `/tmp/**`".to_owned());
        }
        (!hints.is_empty()).then(|| hints.join("\n"))
    }

    /// Recognizes a script that was called without the arguments it needs.
    fn missing_arguments(&self) -> Option<String> {
        let (stdout, stderr) = (&self.finished.stdout.text, &self.finished.stderr.text);
        let says_usage = |text: &str| text.to_ascii_lowercase().contains("usage:");
        if says_usage(stderr) || says_usage(stdout) {
            let place = if says_usage(stderr) { "stderr" } else { "stdout" };
            return Some(format!("pass command-line arguments in `argv`, as the usage in {place} says"));
        }
        let source = std::str::from_utf8(&self.source).ok().filter(|_| self.policy.argv == 0)?;
        if !ARGUMENT_READERS.iter().any(|reader| source.contains(reader)) {
            return None;
        }
        let usage = usage_in(source).map(|usage| format!("; its source says:\n{usage}")).unwrap_or_default();
        Some(format!("the script reads command-line arguments: pass them in `argv`{usage}"))
    }
}

/// Finds the paragraph of a comment or docstring that starts with `Usage`.
fn usage_in(source: &str) -> Option<String> {
    let plain = |line: &str| line.trim_start_matches([' ', '\t', '#', '*', '/', '"', '\'']).trim_end().to_owned();
    let starts = |line: &str| line.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("usage"));
    let mut lines = source.lines().take(MAX_SOURCE_LINES).map(plain).skip_while(|line| !starts(line));
    let mut usage = vec![lines.next()?];
    // A blank line may follow the heading.
    let mut rest = lines.by_ref().take(MAX_USAGE_LINES).peekable();
    if rest.peek().is_some_and(String::is_empty) {
        rest.next();
    }
    usage.extend(rest.take_while(|line| !line.is_empty()));
    let mut usage = usage.join("\n");
    usage.truncate(usage.floor_char_boundary(MAX_USAGE_BYTES));
    Some(usage)
}

#[cfg(test)]
mod tests {
    use super::usage_in;

    #[test]
    fn the_usage_of_a_script_is_found_in_its_comments() {
        let docstring = "#!/usr/bin/env python3\n\"\"\"Counts.\n\nUsage:\n    count.py FILE [--all]\n\nMore.\n\"\"\"\n";
        assert_eq!(usage_in(docstring).as_deref(), Some("Usage:\ncount.py FILE [--all]"));
        assert_eq!(usage_in("# usage: x.sh FILE\nset -e\n\n").as_deref(), Some("usage: x.sh FILE\nset -e"));
        assert_eq!(usage_in("// Usage\n//\n// node x.js\n\nrun()").as_deref(), Some("Usage\nnode x.js"));
        assert_eq!(usage_in("print('é')"), None);
    }
}
