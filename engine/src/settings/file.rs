//! The `config.yaml` that comes with skills. It can choose among what is harmless, take away, and never give.

use crate::bindings::exports::skillcell::plugin::catalog::{OperatorSettings, ScriptTerms};
use crate::problem::{Finding, quote};
use crate::yaml::{self, Entry, Node, Value};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Its name, directly in a root.
pub const SETTINGS_FILE: &str = "config.yaml";

/// Sections of which content may say something.
const SECTIONS: [&str; 5] = ["matching", "refresh", "scripts", "assets", "analytics"];

/// What only the operator decides.
const OPERATORS: [&str; 10] = [
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

/// Runners that other servers ship in this file. They mean the runtimes that there are anyway.
const STOCK_RUNNERS: [(&str, &[&str]); 4] = [
    (".sh", &["bash", "shell"]),
    (".ts", &["npx tsx", "javascript"]),
    (".js", &["node", "javascript"]),
    (".py", &["python3", "python"]),
];

/// An ambiguous answer is for a reader to choose from.
const RESULTS: RangeInclusive<u64> = 1..=100;

/// Up to a year.
const INTERVAL_MINUTES: RangeInclusive<u64> = 1..=525_600;

/// What a file says, as far as content may say it.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The operator's terms, lowered.
    pub scripts: ScriptTerms,
    /// Never more than the operator's.
    pub max_size_bytes: Option<u64>,
    pub inline_text_max_bytes: Option<u64>,
    pub min_score: Option<f64>,
    pub ambiguity_threshold: Option<f64>,
    pub max_results: Option<u32>,
    pub refresh_enabled: Option<bool>,
    pub refresh_interval_minutes: Option<u32>,
}

impl Said {
    fn nothing(operator: &OperatorSettings) -> Self {
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

/// What counts when nobody knows what the file says: it may have said that no script runs.
pub fn unreadable(operator: &OperatorSettings) -> Said {
    let mut said = Said::nothing(operator);
    said.scripts.enabled = false;
    said
}

/// What the file says, and what is wrong in it.
pub fn read(text: &str, operator: &OperatorSettings) -> (Said, Vec<Finding>) {
    let node = match yaml::parse_only(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        Ok(node) => node,
        Err(fault) => {
            let message = format!("not valid YAML: {}, so no script of this root runs", fault.message);
            return (unreadable(operator), vec![Finding::error("bad-yaml", message, "mend it").at(fault.place)]);
        }
    };
    let mut reader = SettingsReader { said: Said::nothing(operator), operator, findings: Vec::new() };
    match &node.value {
        Value::Map(sections) => {
            reader.tell_duplicates("", sections);
            for section in sections {
                reader.section(section);
            }
        }
        _ if node.is_null() => {}
        _ => {
            let message = "it is no map of settings, so no script of this root runs";
            let advice = "write `scripts:` and settings below it";
            return (unreadable(operator), vec![Finding::error("wrong-type", message, advice).at(node.place)]);
        }
    }
    (reader.said, reader.findings)
}

struct SettingsReader<'operator> {
    said: Said,
    operator: &'operator OperatorSettings,
    findings: Vec<Finding>,
}

impl SettingsReader<'_> {
    fn section(&mut self, section: &Entry) {
        let name = section.key.as_str();
        if OPERATORS.contains(&name) {
            return self.forbidden("", section);
        }
        if name == "integrations" {
            return self.never("", section);
        }
        if !SECTIONS.contains(&name) {
            return self.unknown("", section);
        }
        let entries = match &section.node.value {
            Value::Map(entries) => entries,
            _ if section.node.is_null() => return,
            _ => return self.wrong_type("", section, "a map of settings"),
        };
        self.tell_duplicates(name, entries);
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
            "min_score" => self.said.min_score = self.said.min_score.or(self.share(entry)),
            "ambiguity_threshold" => {
                self.said.ambiguity_threshold = self.said.ambiguity_threshold.or(self.share(entry));
            }
            "max_results" => {
                self.said.max_results = self.said.max_results.or(self.whole_within("matching", entry, RESULTS));
            }
            "scorer" => self.never("matching", entry),
            _ => self.unknown("matching", entry),
        }
    }

    fn refresh(&mut self, entry: &Entry) {
        match entry.key.as_str() {
            "enabled" => self.said.refresh_enabled = self.said.refresh_enabled.or(self.flag("refresh", entry)),
            "interval_minutes" => {
                let said = self.whole_within("refresh", entry, INTERVAL_MINUTES);
                self.said.refresh_interval_minutes = self.said.refresh_interval_minutes.or(said);
            }
            _ => self.unknown("refresh", entry),
        }
    }

    fn assets(&mut self, entry: &Entry) {
        let most = self.operator.max_size_bytes;
        match entry.key.as_str() {
            "max_size_bytes" => {
                let said = self.at_most("assets", entry, most);
                self.said.max_size_bytes = said.into_iter().chain(self.said.max_size_bytes).min();
            }
            "inline_text_max_bytes" => {
                let said = self.at_most("assets", entry, most);
                self.said.inline_text_max_bytes = self.said.inline_text_max_bytes.or(said);
            }
            _ => self.unknown("assets", entry),
        }
    }

    /// Whether anything is reported, and where to, is for the operator to say.
    fn analytics(&mut self, entry: &Entry) {
        match entry.key.as_str() {
            "enabled" if entry.node.as_bool() == Some(false) => {}
            "endpoint" if entry.node.as_text() == Some("") => {}
            _ => self.forbidden("analytics", entry),
        }
    }

    fn script_setting(&mut self, entry: &Entry) {
        match entry.key.as_str() {
            "enabled" => match self.flag("scripts", entry) {
                Some(false) => self.said.scripts.enabled = false,
                Some(true) if !self.operator.scripts.enabled => self.forbidden("scripts", entry),
                Some(true) | None => {}
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
        let most = *limit(&mut self.operator.scripts.clone());
        if let Some(said) = self.at_most("scripts", entry, most) {
            let now = limit(&mut self.said.scripts);
            *now = said.min(*now);
        }
    }

    fn fewer_extensions(&mut self, entry: &Entry) {
        const WANTED: &str = "a list of extensions";
        let items = match &entry.node.value {
            Value::List(items) => items,
            _ if entry.node.is_null() => return,
            _ => return self.wrong_type("scripts", entry, WANTED),
        };
        let texts: Option<Vec<&str>> = items.iter().map(Node::as_text).collect();
        let Some(texts) = texts else { return self.wrong_type("scripts", entry, WANTED) };
        let with_dot = |text: &str| format!(".{}", text.trim().trim_start_matches('.').to_ascii_lowercase());
        let said: Vec<String> = texts.into_iter().map(with_dot).collect();
        let allowed = &self.operator.scripts.allowed_extensions;
        if let Some(more) = said.iter().find(|extension| !allowed.contains(extension)) {
            let message =
                format!("`scripts.allowed_extensions` has `{}`, which the operator does not allow", quote(more));
            let advice = "content can only take extensions away";
            self.findings.push(Finding::warning("raised-limit", message, advice).at(entry.place));
        }
        self.said.scripts.allowed_extensions.retain(|extension| said.contains(extension));
    }

    fn runners(&mut self, entry: &Entry) {
        let runners = match &entry.node.value {
            Value::Map(runners) => runners,
            _ if entry.node.is_null() => return,
            _ => return self.wrong_type("scripts", entry, "a map of extensions"),
        };
        self.tell_duplicates("scripts.runners", runners);
        for runner in runners {
            let name = runner.node.as_text().unwrap_or_default();
            let is_stock = |(extension, names): &(&str, &[&str])| *extension == runner.key && names.contains(&name);
            if !STOCK_RUNNERS.iter().any(is_stock) {
                self.forbidden("scripts.runners", runner);
            }
        }
    }

    fn flag(&mut self, section: &str, entry: &Entry) -> Option<bool> {
        let said = entry.node.as_bool();
        if said.is_none() && !entry.node.is_null() {
            self.wrong_type(section, entry, "`true` or `false`");
        }
        said
    }

    fn share(&mut self, entry: &Entry) -> Option<f64> {
        match entry.node.as_number() {
            Some(said) if (0.0..=1.0).contains(&said) => return Some(said),
            Some(said) => self.out_of_range("matching", entry, &format!("{said}"), "0 to 1"),
            None if entry.node.is_null() => {}
            None => self.wrong_type("matching", entry, "a number from 0 to 1"),
        }
        None
    }

    fn whole(&mut self, section: &str, entry: &Entry) -> Option<u64> {
        let said = entry.node.as_whole();
        if said.is_none() && !entry.node.is_null() {
            self.wrong_type(section, entry, "a whole number");
        }
        said
    }

    fn whole_within(&mut self, section: &str, entry: &Entry, range: RangeInclusive<u64>) -> Option<u32> {
        let said = self.whole(section, entry)?;
        if !range.contains(&said) {
            self.out_of_range(section, entry, &said.to_string(), &format!("{} to {}", range.start(), range.end()));
            return None;
        }
        u32::try_from(said).ok()
    }

    /// A limit of the operator's that content may lower.
    fn at_most(&mut self, section: &str, entry: &Entry, most: u64) -> Option<u64> {
        let said = self.whole(section, entry)?;
        if said > most {
            let message = format!("`{}` is {said}, and the operator allows {most}", path(section, entry));
            let advice = "content can only lower it; the operator's own file can raise it";
            self.findings.push(Finding::warning("raised-limit", message, advice).at(entry.place));
            return None;
        }
        Some(said)
    }

    /// What the operator's own file may say.
    fn forbidden(&mut self, section: &str, entry: &Entry) {
        self.refuse(section, entry, "remove it; only the operator's own file decides that");
    }

    /// What would run code of the content's choice inside the server.
    fn never(&mut self, section: &str, entry: &Entry) {
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
        let message = format!("there is no setting `{}`", path(section, entry));
        self.findings
            .push(Finding::warning("unknown-key", message, "remove it, or look at its spelling").at(entry.place));
    }

    fn out_of_range(&mut self, section: &str, entry: &Entry, said: &str, range: &str) {
        let message = format!("`{}` is {said}, so it is ignored", path(section, entry));
        let advice = format!("write a number from {range}");
        self.findings.push(Finding::error("out-of-range", message, advice).at(entry.place));
    }

    fn wrong_type(&mut self, section: &str, entry: &Entry, wanted: &str) {
        let path = path(section, entry);
        let consequence = if path.starts_with("scripts") {
            // What was meant is not known, and it may have been that no script runs.
            self.said.scripts.enabled = false;
            "so no script of this root runs"
        } else {
            "so it is ignored"
        };
        let message = format!("`{path}` is not {wanted}, {consequence}");
        self.findings.push(Finding::error("wrong-type", message, format!("write {wanted}")).at(entry.place));
    }

    fn tell_duplicates(&mut self, section: &str, entries: &[Entry]) {
        let mut seen = BTreeSet::new();
        for entry in entries.iter().filter(|entry| !seen.insert(entry.key.as_str())) {
            let message = format!("`{}` stands here twice", path(section, entry));
            let advice = "keep one of them; the first counts, and of limits the lowest";
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
