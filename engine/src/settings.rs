//! The `config.yaml` that comes with skills. It can take away, and never give.

use crate::bindings::exports::skillcell::plugin::catalog::ScriptTerms;
use crate::problem::{Finding, first_few, quote};
use crate::yaml::{self, Entry, Node, Value};

/// Its name, directly in a root.
pub const SETTINGS_FILE: &str = "config.yaml";

/// Sections of which something is known.
const KNOWN: [&str; 5] = ["scripts", "matching", "refresh", "assets", "analytics"];

/// Runners that other servers ship in this file. They mean the runtimes that there are anyway.
const STOCK_RUNNERS: [(&str, &[&str]); 4] = [
    (".sh", &["bash", "shell"]),
    (".ts", &["npx tsx", "javascript"]),
    (".js", &["node", "javascript"]),
    (".py", &["python3", "python"]),
];

#[expect(clippy::derivable_impls, reason = "the type is generated")]
impl Default for ScriptTerms {
    fn default() -> Self {
        Self {
            enabled: false,
            timeout_seconds: 0,
            max_output_bytes: 0,
            memory_bytes: 0,
            fuel: 0,
            scratch_bytes: 0,
            scratch_files: 0,
            allowed_extensions: Vec::new(),
        }
    }
}

/// The terms when nobody knows what the file says: it may have said that no script runs.
pub fn nothing(terms: &ScriptTerms) -> ScriptTerms {
    ScriptTerms { enabled: false, ..terms.clone() }
}

/// The terms that are left after the file took away, and what is wrong in it.
pub fn read(text: &str, terms: &ScriptTerms) -> (ScriptTerms, Vec<Finding>) {
    let node = match yaml::parse(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        Ok(node) => node,
        Err(fault) => {
            let message = format!("not valid YAML: {}, so no script of this root runs", fault.message);
            return (nothing(terms), vec![Finding::error("bad-yaml", message, "mend it").at(fault.line)]);
        }
    };
    let mut reader = SettingsReader { terms: terms.clone(), findings: Vec::new() };
    match &node.value {
        Value::Map(entries) => entries.iter().for_each(|entry| reader.section(entry)),
        _ if node.is_null() => {}
        _ => {
            let message = "it is no map of settings, so no script of this root runs";
            reader.findings.push(Finding::error("wrong-type", message, "write `scripts:` and settings below it").at(1));
            reader.terms = nothing(terms);
        }
    }
    (reader.terms, first_few(reader.findings))
}

struct SettingsReader {
    terms: ScriptTerms,
    findings: Vec<Finding>,
}

impl SettingsReader {
    fn section(&mut self, section: &Entry) {
        let entries: &[Entry] = match &section.node.value {
            Value::Map(entries) => entries,
            _ if section.node.is_null() => &[],
            _ if KNOWN.contains(&section.key.as_str()) => return self.wrong_type(section, "a map of settings"),
            _ => &[],
        };
        match section.key.as_str() {
            "scripts" => entries.iter().for_each(|entry| self.script_setting(entry)),
            "matching" => {
                self.others(entries, "matching", &["min_score", "max_results", "ambiguity_threshold"], &["scorer"]);
            }
            "refresh" => self.others(entries, "refresh", &["enabled", "interval_minutes"], &[]),
            "assets" => self.others(entries, "assets", &["max_size_bytes", "inline_text_max_bytes"], &[]),
            "analytics" => {
                let asks = |entry: &&Entry| !entry.node.is_null() && entry.node.as_bool() != Some(false);
                let empty = |entry: &&Entry| entry.node.as_text() == Some("");
                for entry in entries.iter().filter(asks).filter(|entry| !empty(entry)) {
                    self.forbidden("analytics", entry);
                }
            }
            "grants" | "repos" | "roots" | "git" | "integrations" => self.forbidden("", section),
            _ => self.unknown("", section),
        }
    }

    fn script_setting(&mut self, entry: &Entry) {
        if entry.node.is_null() {
            return;
        }
        match entry.key.as_str() {
            "enabled" => match entry.node.as_bool() {
                Some(false) => self.terms.enabled = false,
                Some(true) if self.terms.enabled => {}
                Some(true) => self.forbidden("scripts", entry),
                None => self.wrong_type(entry, "`true` or `false`"),
            },
            "timeout_seconds" => self.lower(entry, |terms| &mut terms.timeout_seconds),
            "max_output_bytes" => self.lower(entry, |terms| &mut terms.max_output_bytes),
            "memory_bytes" => self.lower(entry, |terms| &mut terms.memory_bytes),
            "fuel" => self.lower(entry, |terms| &mut terms.fuel),
            "scratch_bytes" => self.lower(entry, |terms| &mut terms.scratch_bytes),
            "scratch_files" => self.lower(entry, |terms| &mut terms.scratch_files),
            "allowed_extensions" => self.fewer_extensions(entry),
            "runners" => self.runners(entry),
            "runs_at_once" | "deterministic" => self.forbidden("scripts", entry),
            _ => self.unknown("scripts", entry),
        }
    }

    fn lower(&mut self, entry: &Entry, limit: impl Fn(&mut ScriptTerms) -> &mut u64) {
        let said = entry.node.as_text().and_then(|text| text.replace('_', "").parse::<u64>().ok());
        let now = *limit(&mut self.terms);
        match said {
            Some(said) if said <= now => *limit(&mut self.terms) = said,
            Some(said) => {
                let message = format!("`scripts.{}` is {said}, and the operator allows {now}", entry.key);
                let advice = "content can only lower it; the operator's own file can raise it";
                self.findings.push(Finding::warning("raised-limit", message, advice).at(entry.line));
            }
            None => self.wrong_type(entry, "a whole number"),
        }
    }

    fn fewer_extensions(&mut self, entry: &Entry) {
        let Value::List(items) = &entry.node.value else { return self.wrong_type(entry, "a list of extensions") };
        let said: Vec<String> = items.iter().filter_map(Node::as_text).map(str::to_ascii_lowercase).collect();
        if let Some(more) = said.iter().find(|extension| !self.terms.allowed_extensions.contains(extension)) {
            let message =
                format!("`scripts.allowed_extensions` has `{}`, which the operator does not allow", quote(more));
            let advice = "content can only take extensions away";
            self.findings.push(Finding::warning("raised-limit", message, advice).at(entry.line));
        }
        self.terms.allowed_extensions.retain(|extension| said.contains(extension));
    }

    fn runners(&mut self, entry: &Entry) {
        let Value::Map(runners) = &entry.node.value else { return self.wrong_type(entry, "a map of extensions") };
        for runner in runners {
            let name = runner.node.as_text().unwrap_or_default();
            let is_stock = |(extension, names): &(&str, &[&str])| *extension == runner.key && names.contains(&name);
            if !STOCK_RUNNERS.iter().any(is_stock) {
                self.forbidden("scripts.runners", runner);
            }
        }
    }

    /// Settings that are not about scripts.
    fn others(&mut self, entries: &[Entry], section: &str, known: &[&str], forbidden: &[&str]) {
        for entry in entries {
            match entry.key.as_str() {
                key if known.contains(&key) => {}
                key if forbidden.contains(&key) => self.forbidden(section, entry),
                _ => self.unknown(section, entry),
            }
        }
    }

    fn forbidden(&mut self, section: &str, entry: &Entry) {
        let message = format!("content may not set `{}`", path(section, entry));
        let advice = "remove it; only the operator's own file decides that";
        self.findings.push(Finding::warning("forbidden-setting", message, advice).at(entry.line));
    }

    fn unknown(&mut self, section: &str, entry: &Entry) {
        let message = format!("there is no setting `{}`", path(section, entry));
        self.findings
            .push(Finding::warning("unknown-key", message, "remove it, or look at its spelling").at(entry.line));
    }

    /// What was meant is not known, and it may have been that no script runs.
    fn wrong_type(&mut self, entry: &Entry, wanted: &str) {
        self.terms.enabled = false;
        let message = format!("`{}` is not {wanted}, so no script of this root runs", quote(&entry.key));
        self.findings.push(Finding::error("wrong-type", message, format!("write {wanted}")).at(entry.line));
    }
}

fn path(section: &str, entry: &Entry) -> String {
    let key = quote(&entry.key);
    if section.is_empty() { key } else { format!("{section}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operator() -> ScriptTerms {
        ScriptTerms {
            enabled: true,
            timeout_seconds: 60,
            max_output_bytes: 1000,
            memory_bytes: 1000,
            fuel: 1000,
            scratch_bytes: 1000,
            scratch_files: 10,
            allowed_extensions: [".py", ".js", ".sh", ".ts"].map(str::to_owned).to_vec(),
        }
    }

    fn codes(findings: &[Finding]) -> Vec<(&str, Option<u32>)> {
        findings.iter().map(|finding| (finding.code, finding.line)).collect()
    }

    #[test]
    fn the_stock_file_of_other_servers_changes_nothing() {
        let stock = "\
matching:\n  min_score: 0.2\n  max_results: 3\n  ambiguity_threshold: 0.1\nrefresh:\n  enabled: true\n  interval_minutes: 15\n\
scripts:\n  enabled: true\n  timeout_seconds: 60\n  max_output_bytes: 1000\n  allowed_extensions:\n    - .sh\n    - .ts\n    \
- .js\n    - .py\n  runners:\n    \".sh\": \"bash\"\n    \".ts\": \"npx tsx\"\n    \".js\": \"node\"\n    \".py\": \"python3\"\n\
assets:\n  max_size_bytes: 1048576\n  inline_text_max_bytes: 10240\nanalytics:\n  enabled: false\n  endpoint: \"\"\n";
        let (terms, findings) = read(stock, &operator());
        assert_eq!(codes(&findings), []);
        assert_eq!(terms, operator());
    }

    #[test]
    fn content_can_lower_and_switch_off() {
        let (terms, findings) = read("scripts: {timeout_seconds: 5, fuel: 10, allowed_extensions: [.py]}", &operator());
        assert_eq!((terms.timeout_seconds, terms.fuel, terms.allowed_extensions.len()), (5, 10, 1));
        assert_eq!(codes(&findings), []);
        assert!(!read("scripts: {enabled: false}", &operator()).0.enabled);
    }

    #[test]
    fn content_cannot_raise_enable_grant_or_choose() {
        let disabled = ScriptTerms { enabled: false, ..operator() };
        let (terms, findings) = read("scripts:\n  enabled: true\n", &disabled);
        assert_eq!((terms.enabled, codes(&findings)), (false, vec![("forbidden-setting", Some(2))]));
        for (text, code, line) in [
            ("scripts:\n  timeout_seconds: 61\n", "raised-limit", 2),
            ("scripts:\n  memory_bytes: 99999999\n", "raised-limit", 2),
            ("scripts:\n  allowed_extensions: [.py, .rb]\n", "raised-limit", 2),
            ("scripts:\n  runners:\n    .py: /tmp/evil.wasm\n", "forbidden-setting", 3),
            ("scripts:\n  runners:\n    .sh: python3\n", "forbidden-setting", 3),
            ("scripts:\n  runs_at_once: 99\n", "forbidden-setting", 2),
            ("grants:\n  /a: {}\n", "forbidden-setting", 1),
            ("matching:\n  scorer: evil.wasm\n", "forbidden-setting", 2),
            ("analytics:\n  endpoint: https://evil.example\n", "forbidden-setting", 2),
            ("analytics:\n  enabled: true\n", "forbidden-setting", 2),
            ("other: 1\n", "unknown-key", 1),
            ("scripts:\n  tiemout: 1\n", "unknown-key", 2),
        ] {
            let (terms, findings) = read(text, &operator());
            assert_eq!(codes(&findings), [(code, Some(line))], "{text}");
            let fewer = ScriptTerms { allowed_extensions: terms.allowed_extensions.clone(), ..operator() };
            assert_eq!(terms, fewer, "{text}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_understood_switches_scripts_off() {
        for text in [
            "scripts: [",
            "- a",
            "scripts: false",
            "scripts: {enabled: maybe}",
            "scripts: {timeout_seconds: 1.5}",
            "scripts: {allowed_extensions: .py}",
        ] {
            let (terms, findings) = read(text, &operator());
            assert!(!terms.enabled && findings.len() == 1, "{text}");
        }
        assert!(read("", &operator()).0.enabled);
    }
}
