//! The `config.yaml` of a root. It can choose harmless settings and restrict, but never grant.

use crate::bindings::exports::skillcell::plugin::catalog::{OperatorSettings, ScriptLimits};
use crate::problem::{Finding, quote};
use crate::yaml::{self, Entry, Node, Value};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Directly in a root.
pub const SETTINGS_FILE: &str = "config.yaml";

/// Sections that content may set.
const SECTIONS: [&str; 5] = ["matching", "refresh", "scripts", "assets", "analytics"];

/// Sections that only the operator sets.
const OPERATOR_ONLY: [&str; 10] = [
    "catalog",
    "catalog_format",
    "catalog_max_chars",
    "duplicates",
    "git",
    "grants",
    "profile",
    "repos",
    "roots",
    "tools",
];

/// Runners that other servers ship in this file. They name the bundled runtimes, so they change nothing.
const STOCK_RUNNERS: [(&str, &[&str]); 4] = [
    (".sh", &["bash", "shell"]),
    (".ts", &["npx tsx", "javascript"]),
    (".js", &["node", "javascript"]),
    (".py", &["python3", "python"]),
];

/// An ambiguous answer is a list to choose from.
const RESULTS: RangeInclusive<u64> = 1..=100;

/// Up to a year.
const INTERVAL_MINUTES: RangeInclusive<u64> = 1..=525_600;

/// The settings of one file, reduced to what content may set.
#[derive(Debug, Clone, PartialEq)]
pub struct FileSettings {
    /// The operator's limits, lowered.
    pub scripts: ScriptLimits,
    /// At most the operator's.
    pub max_size_bytes: Option<u64>,
    pub inline_text_max_bytes: Option<u64>,
    pub min_score: Option<f64>,
    pub ambiguity_threshold: Option<f64>,
    pub max_results: Option<u32>,
    pub refresh_enabled: Option<bool>,
    pub refresh_interval_minutes: Option<u32>,
}

impl FileSettings {
    fn unset(operator: &OperatorSettings) -> Self {
        Self {
            scripts: operator.scripts.clone(),
            max_size_bytes: None,
            inline_text_max_bytes: None,
            min_score: None,
            ambiguity_threshold: None,
            max_results: None,
            refresh_enabled: None,
            refresh_interval_minutes: None,
        }
    }
}

/// The settings for a file that cannot be read. Scripts are disabled, because the file may have said so.
pub fn unreadable(operator: &OperatorSettings) -> FileSettings {
    let mut settings = FileSettings::unset(operator);
    settings.scripts.enabled = false;
    settings
}

/// Parses the file and reports its problems.
pub fn read(text: &str, operator: &OperatorSettings) -> (FileSettings, Vec<Finding>) {
    let node = match yaml::parse_only(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        Ok(node) => node,
        Err(error) => {
            let message = format!("not valid YAML: {}, so scripts of this root are disabled", error.message);
            return (unreadable(operator), vec![Finding::error("bad-yaml", message, "fix it").at(error.place)]);
        }
    };
    let mut reader = SettingsReader { settings: FileSettings::unset(operator), operator, findings: Vec::new() };
    match &node.value {
        Value::Map(sections) => {
            reader.report_duplicates("", sections);
            for section in sections {
                reader.section(section);
            }
        }
        _ if node.is_null() => {}
        _ => {
            let message = "not a map of settings, so scripts of this root are disabled";
            let advice = "write `scripts:` and settings below it";
            return (unreadable(operator), vec![Finding::error("wrong-type", message, advice).at(node.place)]);
        }
    }
    (reader.settings, reader.findings)
}

struct SettingsReader<'operator> {
    settings: FileSettings,
    operator: &'operator OperatorSettings,
    findings: Vec<Finding>,
}

impl SettingsReader<'_> {
    fn section(&mut self, section: &Entry) {
        let name = section.key.as_str();
        if OPERATOR_ONLY.contains(&name) {
            return self.operator_only("", section);
        }
        if name == "integrations" {
            return self.never_allowed("", section);
        }
        if !SECTIONS.contains(&name) {
            return self.unknown("", section);
        }
        let entries = match &section.node.value {
            Value::Map(entries) => entries,
            _ if section.node.is_null() => return,
            _ => return self.wrong_type("", section, "a map of settings"),
        };
        self.report_duplicates(name, entries);
        for entry in entries {
            match name {
                "matching" => self.matching(entry),
                "refresh" => self.refresh(entry),
                "scripts" => self.script_setting(entry),
                "assets" => self.assets(entry),
                _ => self.analytics(entry),
            }
        }
    }

    fn matching(&mut self, entry: &Entry) {
        match entry.key.as_str() {
            "min_score" => self.settings.min_score = self.settings.min_score.or(self.fraction(entry)),
            "ambiguity_threshold" => {
                self.settings.ambiguity_threshold = self.settings.ambiguity_threshold.or(self.fraction(entry));
            }
            "max_results" => {
                self.settings.max_results =
                    self.settings.max_results.or(self.integer_within("matching", entry, RESULTS));
            }
            "scorer" => self.never_allowed("matching", entry),
            _ => self.unknown("matching", entry),
        }
    }

    fn refresh(&mut self, entry: &Entry) {
        match entry.key.as_str() {
            "enabled" => self.settings.refresh_enabled = self.settings.refresh_enabled.or(self.flag("refresh", entry)),
            "interval_minutes" => {
                let value = self.integer_within("refresh", entry, INTERVAL_MINUTES);
                self.settings.refresh_interval_minutes = self.settings.refresh_interval_minutes.or(value);
            }
            _ => self.unknown("refresh", entry),
        }
    }

    fn assets(&mut self, entry: &Entry) {
        let max = self.operator.max_size_bytes;
        match entry.key.as_str() {
            "max_size_bytes" => {
                let value = self.at_most("assets", entry, max);
                self.settings.max_size_bytes = value.into_iter().chain(self.settings.max_size_bytes).min();
            }
            "inline_text_max_bytes" => {
                let value = self.at_most("assets", entry, max);
                self.settings.inline_text_max_bytes = self.settings.inline_text_max_bytes.or(value);
            }
            _ => self.unknown("assets", entry),
        }
    }

    /// Only the operator decides whether and where analytics are sent.
    fn analytics(&mut self, entry: &Entry) {
        match entry.key.as_str() {
            "enabled" if entry.node.as_bool() == Some(false) => {}
            "endpoint" if entry.node.as_text() == Some("") => {}
            _ => self.operator_only("analytics", entry),
        }
    }

    fn script_setting(&mut self, entry: &Entry) {
        match entry.key.as_str() {
            "enabled" => match self.flag("scripts", entry) {
                Some(false) => self.settings.scripts.enabled = false,
                Some(true) if !self.operator.scripts.enabled => self.operator_only("scripts", entry),
                Some(true) | None => {}
            },
            "undeclared" => match self.flag("scripts", entry) {
                Some(false) => self.settings.scripts.undeclared = false,
                Some(true) if !self.operator.scripts.undeclared => self.operator_only("scripts", entry),
                Some(true) | None => {}
            },
            "timeout_seconds" => self.lower_limit(entry, |terms| &mut terms.timeout_seconds),
            "max_output_bytes" => self.lower_limit(entry, |terms| &mut terms.max_output_bytes),
            "memory_bytes" => self.lower_limit(entry, |terms| &mut terms.memory_bytes),
            "fuel" => self.lower_limit(entry, |terms| &mut terms.fuel),
            "scratch_bytes" => self.lower_limit(entry, |terms| &mut terms.scratch_bytes),
            "scratch_files" => self.lower_limit(entry, |terms| &mut terms.scratch_files),
            "allowed_extensions" => self.restrict_extensions(entry),
            "runners" => self.runners(entry),
            "runs_at_once" | "deterministic" => self.operator_only("scripts", entry),
            _ => self.unknown("scripts", entry),
        }
    }

    fn lower_limit(&mut self, entry: &Entry, limit: impl Fn(&mut ScriptLimits) -> &mut u64) {
        let max = *limit(&mut self.operator.scripts.clone());
        if let Some(value) = self.at_most("scripts", entry, max) {
            let current = limit(&mut self.settings.scripts);
            *current = value.min(*current);
        }
    }

    fn restrict_extensions(&mut self, entry: &Entry) {
        const WANTED: &str = "a list of extensions";
        let items = match &entry.node.value {
            Value::List(items) => items,
            _ if entry.node.is_null() => return,
            _ => return self.wrong_type("scripts", entry, WANTED),
        };
        let texts: Option<Vec<&str>> = items.iter().map(Node::as_text).collect();
        let Some(texts) = texts else { return self.wrong_type("scripts", entry, WANTED) };
        let with_dot = |text: &str| format!(".{}", text.trim().trim_start_matches('.').to_ascii_lowercase());
        let listed: Vec<String> = texts.into_iter().map(with_dot).collect();
        let allowed = &self.operator.scripts.allowed_extensions;
        if let Some(more) = listed.iter().find(|extension| !allowed.contains(extension)) {
            let message =
                format!("`scripts.allowed_extensions` has `{}`, which the operator does not allow", quote(more));
            let advice = "content can only remove extensions";
            self.findings.push(Finding::warning("raised-limit", message, advice).at(entry.place));
        }
        self.settings.scripts.allowed_extensions.retain(|extension| listed.contains(extension));
    }

    fn runners(&mut self, entry: &Entry) {
        let runners = match &entry.node.value {
            Value::Map(runners) => runners,
            _ if entry.node.is_null() => return,
            _ => return self.wrong_type("scripts", entry, "a map of extensions"),
        };
        self.report_duplicates("scripts.runners", runners);
        for runner in runners {
            let name = runner.node.as_text().unwrap_or_default();
            let is_stock = |(extension, names): &(&str, &[&str])| *extension == runner.key && names.contains(&name);
            if !STOCK_RUNNERS.iter().any(is_stock) {
                self.operator_only("scripts.runners", runner);
            }
        }
    }

    fn flag(&mut self, section: &str, entry: &Entry) -> Option<bool> {
        let value = entry.node.as_bool();
        if value.is_none() && !entry.node.is_null() {
            self.wrong_type(section, entry, "`true` or `false`");
        }
        value
    }

    fn fraction(&mut self, entry: &Entry) -> Option<f64> {
        match entry.node.as_number() {
            Some(value) if (0.0..=1.0).contains(&value) => return Some(value),
            Some(value) => self.out_of_range("matching", entry, &format!("{value}"), "0 to 1"),
            None if entry.node.is_null() => {}
            None => self.wrong_type("matching", entry, "a number from 0 to 1"),
        }
        None
    }

    fn integer(&mut self, section: &str, entry: &Entry) -> Option<u64> {
        let value = entry.node.as_unsigned();
        if value.is_none() && !entry.node.is_null() {
            self.wrong_type(section, entry, "a whole number");
        }
        value
    }

    fn integer_within(&mut self, section: &str, entry: &Entry, range: RangeInclusive<u64>) -> Option<u32> {
        let value = self.integer(section, entry)?;
        if !range.contains(&value) {
            self.out_of_range(section, entry, &value.to_string(), &format!("{} to {}", range.start(), range.end()));
            return None;
        }
        u32::try_from(value).ok()
    }

    /// Reads a limit that content may only lower.
    fn at_most(&mut self, section: &str, entry: &Entry, max: u64) -> Option<u64> {
        let value = self.integer(section, entry)?;
        if value > max {
            let message = format!("`{}` is {value}, and the operator allows {max}", path(section, entry));
            let advice = "content can only lower it; the operator's own file can raise it";
            self.findings.push(Finding::warning("raised-limit", message, advice).at(entry.place));
            return None;
        }
        Some(value)
    }

    /// Reports a setting that only the operator's own file may contain.
    fn operator_only(&mut self, section: &str, entry: &Entry) {
        self.refuse(section, entry, "remove it; only the operator's own file decides that");
    }

    /// Reports a setting that would run code chosen by the content inside the server.
    fn never_allowed(&mut self, section: &str, entry: &Entry) {
        self.refuse(section, entry, "remove it; content never decides that");
    }

    fn refuse(&mut self, section: &str, entry: &Entry, advice: &str) {
        if entry.node.is_null() {
            return;
        }
        let message = format!("content may not set `{}`", path(section, entry));
        self.findings.push(Finding::warning("forbidden-setting", message, advice).at(entry.place));
    }

    fn unknown(&mut self, section: &str, entry: &Entry) {
        let message = format!("unknown setting `{}`", path(section, entry));
        self.findings
            .push(Finding::warning("unknown-key", message, "remove it, or check its spelling").at(entry.place));
    }

    fn out_of_range(&mut self, section: &str, entry: &Entry, value: &str, range: &str) {
        let message = format!("`{}` is {value}, so it is ignored", path(section, entry));
        let advice = format!("write a number from {range}");
        self.findings.push(Finding::error("out-of-range", message, advice).at(entry.place));
    }

    fn wrong_type(&mut self, section: &str, entry: &Entry, wanted: &str) {
        let path = path(section, entry);
        let consequence = if path.starts_with("scripts") {
            // The value may have been meant to disable scripts.
            self.settings.scripts.enabled = false;
            "so scripts of this root are disabled"
        } else {
            "so it is ignored"
        };
        let message = format!("`{path}` is not {wanted}, {consequence}");
        self.findings.push(Finding::error("wrong-type", message, format!("write {wanted}")).at(entry.place));
    }

    fn report_duplicates(&mut self, section: &str, entries: &[Entry]) {
        let mut seen = BTreeSet::new();
        for entry in entries.iter().filter(|entry| !seen.insert(entry.key.as_str())) {
            let message = format!("`{}` appears twice", path(section, entry));
            let advice = "keep one of them; the first counts, and the lowest limit";
            self.findings.push(Finding::warning("duplicate-key", message, advice).at(entry.place));
        }
    }
}

fn path(section: &str, entry: &Entry) -> String {
    let key = quote(&entry.key);
    if section.is_empty() { key } else { format!("{section}.{key}") }
}

#[cfg(test)]
mod tests;
