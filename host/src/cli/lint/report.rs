//! What `lint` found, for people and as JSON.

use crate::bindings::catalog::Mention;
use crate::bindings::types::{Location, Problem, Severity};
use crate::cli::mentions::{MOST, Offer, full_name};
use crate::cli::table::aligned;
use crate::library::roots::SkillRoot;
use crate::printable::{counted, printable, printable_up_to};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Longest path that is shown, in characters: as long as any that can be opened.
const LONGEST_PATH: usize = 4_096;

#[derive(Serialize)]
pub struct Report {
    /// How many skills are served all the same.
    skills: u32,
    pub errors: usize,
    warnings: usize,
    /// By file, line and code.
    problems: Vec<Found>,
    /// By skill and place.
    mentions: Vec<Mentioned>,
    #[serde(skip)]
    roots: Vec<Folder>,
}

/// A root, and where it is as seen from the working folder.
struct Folder {
    label: String,
    shown: PathBuf,
}

#[derive(Serialize)]
struct Found {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    severity: &'static str,
    code: String,
    message: String,
    advice: String,
    root: String,
}

#[derive(Serialize)]
struct Mentioned {
    skill: String,
    tool: String,
    file: String,
    line: u32,
    column: u32,
    #[serde(flatten)]
    offer: Offer,
}

/// A mention of a tool, and whether this server offers it.
pub struct Used {
    pub mention: Mention,
    pub offer: Offer,
}

impl Report {
    /// One without problems. Files are shown as seen from the working folder.
    pub fn new(roots: &[SkillRoot], working_folder: &Path, skills: u32) -> Self {
        let folder = |root: &SkillRoot| {
            let path = root.path();
            let shown = path.strip_prefix(working_folder).map_or(path.clone(), PathBuf::from);
            Folder { label: root.label.clone(), shown }
        };
        let roots = roots.iter().map(folder).collect();
        Self { skills, errors: 0, warnings: 0, problems: Vec::new(), mentions: Vec::new(), roots }
    }

    pub fn add(&mut self, problem: Problem) {
        let Problem { location, line, severity, code, message, advice } = problem;
        let (file, root) = (self.shown(&location), self.label(&location));
        let severity = match severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        self.problems.push(Found { file, line, column: None, severity, code, message, advice, root });
    }

    /// Notes a mention, and what is wrong with it.
    pub fn add_mention(&mut self, used: Used) {
        let Used { mention, offer } = used;
        let (file, root) = (self.shown(&mention.file), self.label(&mention.file));
        let Mention { line, column, .. } = mention;
        if let Some(wrong) = offer.wrong(&mention) {
            self.problems.push(Found {
                file: file.clone(),
                line: Some(line),
                column: Some(column),
                severity: "warning",
                code: wrong.code.to_owned(),
                message: wrong.message,
                advice: wrong.advice,
                root,
            });
        }
        let tool = full_name(&mention.server, &mention.tool);
        self.mentions.push(Mentioned { skill: mention.skill, tool, file, line, column, offer });
    }

    /// Sorted and counted.
    pub fn finished(mut self) -> Self {
        self.problems.sort_by(|left, right| {
            let place = |found: &Found| (found.line, found.column);
            (&left.file, place(left), &left.code).cmp(&(&right.file, place(right), &right.code))
        });
        self.errors = self.problems.iter().filter(|found| found.severity == "error").count();
        self.warnings = self.problems.len() - self.errors;
        self
    }

    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.problems.iter().flat_map(Found::lines).collect();
        if !self.mentions.is_empty() {
            lines.extend([String::new(), "tools that skills mention:".to_owned()]);
            let row = |used: &Mentioned| vec![printable(&used.skill), used.tool.clone(), used.offer.told()];
            let rows: Vec<Vec<String>> = self.mentions.iter().map(row).collect();
            lines.extend(aligned(&rows).into_iter().map(|line| format!("  {line}")));
            if rows.len() == MOST as usize {
                lines.push(format!("  and perhaps more: only the first {MOST} are told"));
            }
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let skills = counted(self.skills as usize, "skill");
        lines.push(match (self.errors, self.warnings) {
            (0, 0) => format!("{skills}: no problems"),
            (errors, warnings) => {
                format!("{skills}: {}, {}", counted(errors, "error"), counted(warnings, "warning"))
            }
        });
        lines.drain(..usize::from(lines.first().is_some_and(String::is_empty)));
        lines
    }

    fn shown(&self, location: &Location) -> String {
        let folder = self.roots.get(location.root as usize).map(|root| root.shown.as_path());
        let path = folder.unwrap_or_else(|| Path::new("")).join(&location.path);
        let shown = path.display().to_string();
        // The root itself, when that is the working folder.
        if shown.is_empty() { ".".to_owned() } else { shown }
    }

    fn label(&self, location: &Location) -> String {
        self.roots.get(location.root as usize).map(|root| root.label.clone()).unwrap_or_default()
    }
}

impl Found {
    /// As compilers tell it, so that editors find the place.
    fn lines(&self) -> [String; 2] {
        let place: String = [self.line, self.column].into_iter().flatten().map(|number| format!(":{number}")).collect();
        let (file, message) = (printable_up_to(&self.file, LONGEST_PATH), printable(&self.message));
        [
            format!("{file}{place}: {}: {message} [{}]", self.severity, self.code),
            format!("    {}", printable(&self.advice)),
        ]
    }
}
