//! What a caller can do after a run that did not do what was wanted.

use crate::CompletedRun;
use base::printable::quoted;
use packages::known::{self, Remedy};

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
            let missing = self.missing_package();
            hints.extend(missing.or_else(|| self.missing_arguments()));
        }
        if let Some(Err((path, error))) = &self.saved {
            hints.push(format!("`{path}` could not be saved: {error}"));
        }
        if !self.outputs.unmatched.is_empty() {
            hints.push(format!("the script wrote no file that matches {}", quoted(&self.outputs.unmatched)));
        }
        let is_complete = self.finished.limit_hit.is_none();
        if self.outputs.files.is_empty() && self.outputs.in_tmp > 0 && is_complete {
            hints.push("files in /tmp come back only if `outputs` names them, such as `/tmp/**`".to_owned());
        }
        (!hints.is_empty()).then(|| hints.join("\n"))
    }

    /// Recognizes a script that needs a package which is not installed.
    fn missing_package(&self) -> Option<String> {
        let (stderr, stdout) = (&self.finished.stderr.text, &self.finished.stdout.text);
        if self.policy.packages.is_err() && stderr.contains("ModuleNotFoundError: ") {
            return Some(
                "the installed packages cannot be used: `skillcell package verify` tells the operator why".to_owned(),
            );
        }
        let remedy = missing_package(stderr, stdout)?;
        Some(match remedy {
            Remedy::Add(package) => format!(
                "the script needs the package `{package}`: the operator can add it with `skillcell package add {package}`"
            ),
            Remedy::Impossible(package) => known::impossible(package).replace("\nhint: ", ": "),
        })
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

/// Finds a known package that an output says is missing: in a traceback, or in the advice that scripts give instead of one.
fn missing_package(stderr: &str, stdout: &str) -> Option<Remedy> {
    let module = |line: &str| {
        let rest = line.trim().strip_prefix("ModuleNotFoundError: No module named '")?;
        Remedy::for_module(rest.split('\'').next()?)
    };
    let advised = |line: &str| {
        let mut names = line.split("pip install ").nth(1)?.split_whitespace();
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
        names.find_map(|name| {
            let name = name.trim_start_matches(['`', '\'', '"']);
            let name = &name[..name.find(|letter| !is_of_name(letter)).unwrap_or(name.len())];
            Remedy::for_package(&name.trim_end_matches('.').parse().ok()?)
        })
    };
    stderr.lines().rev().find_map(module).or_else(|| stderr.lines().chain(stdout.lines()).find_map(advised))
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
    use super::{missing_package, usage_in};
    use packages::known::Remedy;

    #[test]
    fn a_missing_package_is_found_in_tracebacks_and_in_advice() {
        let traceback = "Traceback (most recent call last):\n  File \"/skill/x.py\", line 1, in <module>\n    import yaml\nModuleNotFoundError: No module named 'yaml'\n";
        assert_eq!(missing_package(traceback, ""), Some(Remedy::Add("PyYAML")));
        assert_eq!(
            missing_package("ModuleNotFoundError: No module named 'PIL.Image'\n", ""),
            Some(Remedy::Impossible("Pillow"))
        );
        assert_eq!(missing_package("Error: run `pip install -U pyyaml`.\n", ""), Some(Remedy::Add("PyYAML")));
        assert_eq!(missing_package("", "Please: pip install numpy."), Some(Remedy::Impossible("numpy")));
        assert_eq!(
            missing_package("ModuleNotFoundError: No module named 'helpers'", "pip install -r requirements.txt"),
            None
        );
    }

    #[test]
    fn the_usage_of_a_script_is_found_in_its_comments() {
        let docstring = "#!/usr/bin/env python3\n\"\"\"Counts.\n\nUsage:\n    count.py FILE [--all]\n\nMore.\n\"\"\"\n";
        assert_eq!(usage_in(docstring).as_deref(), Some("Usage:\ncount.py FILE [--all]"));
        assert_eq!(usage_in("# usage: x.sh FILE\nset -e\n\n").as_deref(), Some("usage: x.sh FILE\nset -e"));
        assert_eq!(usage_in("// Usage\n//\n// node x.js\n\nrun()").as_deref(), Some("Usage\nnode x.js"));
        assert_eq!(usage_in("print('é')"), None);
    }
}
