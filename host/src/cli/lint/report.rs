//! The report of `lint`, as JSON; `lines` formats it as text, and `sarif` for code scanning.

use super::fix::FixedFile;
use super::inspect::Inspection;
use crate::cli::mentions::{Offer, full_name};
use base::printable::visible;
use bindings::catalog::{Mention, Remark, ReviewedFile};
use bindings::types::{Location, Problem};
use library::roots::SkillRoot;
use mcp::surface::Surface;
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use views::problem::severity_name;

#[derive(Default, Serialize)]
pub struct Report {
    /// The number of served skills.
    pub skills: u32,
    pub errors: usize,
    pub warnings: usize,
    /// Sorted by file, line, column and code.
    pub problems: Vec<Finding>,
    /// The silenced problems, in the same order.
    pub silenced: Vec<Finding>,
    /// The outcomes of `--fix`.
    #[serde(rename = "mended", skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<FixedFile>,
    /// By skill and position.
    pub mentions: Vec<MentionView>,
    #[serde(skip)]
    folders: Folders,
    /// Codes allowed on the command line.
    #[serde(skip)]
    allow: Vec<String>,
    /// Codes allowed by comments in files.
    #[serde(skip)]
    allowed: HashMap<FileKey, Vec<String>>,
}

/// The root and path of a file.
type FileKey = (u32, String);

#[derive(Serialize)]
pub struct Finding {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    pub severity: &'static str,
    pub code: String,
    pub message: String,
    pub advice: String,
    /// Whether `--fix` fixes it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mechanical: bool,
    root: String,
    #[serde(skip)]
    pub silencer: Option<Silencer>,
}

/// What silences a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silencer {
    /// A comment in the file.
    File,
    /// An option of the command.
    Command,
}

#[derive(Serialize)]
pub struct MentionView {
    pub skill: String,
    pub tool: String,
    file: String,
    line: u32,
    column: u32,
    #[serde(flatten)]
    pub offer: Offer,
}

/// The labels and paths of the roots, relative to the working folder if they are in it.
#[derive(Default)]
pub struct Folders(Vec<(String, PathBuf)>);

impl Folders {
    pub fn new(roots: &[SkillRoot], working_folder: &Path) -> Self {
        let folder = |root: &SkillRoot| {
            let path = root.path();
            let relative = path.strip_prefix(working_folder).map_or(path.clone(), PathBuf::from);
            (root.label.clone(), relative)
        };
        Self(roots.iter().map(folder).collect())
    }

    pub fn all(&self) -> Vec<String> {
        self.0.iter().map(|(_, path)| path.display().to_string()).collect()
    }

    pub fn display(&self, location: &Location) -> String {
        let folder = self.0.get(location.root as usize).map(|(_, path)| path.as_path());
        let path = folder.unwrap_or_else(|| Path::new("")).join(&location.path);
        let text = path.display().to_string();
        // The root itself, if it is the working folder.
        if text.is_empty() { ".".to_owned() } else { text }
    }

    fn label(&self, location: &Location) -> String {
        self.0.get(location.root as usize).map(|(label, _)| label.clone()).unwrap_or_default()
    }
}

impl Report {
    pub fn new(inspection: Inspection, folders: Folders, allow: Vec<String>, surface: &Surface) -> Self {
        let mut report = Self { skills: inspection.skills, folders, allow, ..Self::default() };
        for file in inspection.files {
            report.add(file.reviewed);
        }
        // After the reviews, which may allow codes.
        for mention in inspection.mentions {
            let offer = Offer::of(&mention, surface);
            report.add_mention(mention, offer);
        }
        report.sorted()
    }

    fn add(&mut self, reviewed: ReviewedFile) {
        let ReviewedFile { file, remarks, allowed } = reviewed;
        self.allowed.insert((file.root, file.path), allowed);
        for remark in remarks {
            let Remark { problem, edits, silenced } = remark;
            let Problem { location, line, column, severity, code, message, advice } = problem;
            // The engine may silence more than the listed codes.
            let silencer = self.silencer(&location, &code).or(silenced.then_some(Silencer::File));
            let (file, root) = (self.folders.display(&location), self.folders.label(&location));
            let (severity, mechanical) = (severity_name(severity), !edits.is_empty());
            // The file is for programs, the rest for people.
            let (message, advice) = (visible(message), visible(advice));
            self.push(Finding { file, line, column, severity, code, message, advice, mechanical, root, silencer });
        }
    }

    /// Adds a mention, and its problem.
    fn add_mention(&mut self, mention: Mention, offer: Offer) {
        let file = self.folders.display(&mention.file);
        let Mention { line, column, .. } = mention;
        if let Some(problem) = offer.problem(&mention) {
            self.push(Finding {
                file: file.clone(),
                line: Some(line),
                column: Some(column),
                severity: "warning",
                code: problem.code.to_owned(),
                message: problem.message,
                advice: problem.advice,
                mechanical: false,
                root: self.folders.label(&mention.file),
                silencer: self.silencer(&mention.file, problem.code),
            });
        }
        let tool = full_name(&mention.server, &mention.tool);
        self.mentions.push(MentionView { skill: mention.skill, tool, file, line, column, offer });
    }

    /// Sorts and counts the problems.
    fn sorted(mut self) -> Self {
        for list in [&mut self.problems, &mut self.silenced] {
            list.sort_by(|left, right| {
                let position = |finding: &Finding| (finding.line, finding.column);
                (&left.file, position(left), &left.code).cmp(&(&right.file, position(right), &right.code))
            });
        }
        self.errors = self.problems.iter().filter(|finding| finding.severity == "error").count();
        self.warnings = self.problems.len() - self.errors;
        self
    }

    fn push(&mut self, finding: Finding) {
        if finding.silencer.is_some() { &mut self.silenced } else { &mut self.problems }.push(finding);
    }

    fn silencer(&self, location: &Location, code: &str) -> Option<Silencer> {
        let in_file = self.allowed.get(&(location.root, location.path.clone()));
        let in_file = in_file.is_some_and(|codes| codes.iter().any(|allowed| allowed == code));
        let by_command = || self.allow.iter().any(|allowed| allowed == code).then_some(Silencer::Command);
        if in_file { Some(Silencer::File) } else { by_command() }
    }
}
