//! What `lint` found, for programs; `lines` has it for people, and `sarif` for code scanning.

use super::fixing::Mended;
use crate::bindings::catalog::{Mention, Remark, ReviewedFile};
use crate::bindings::types::{Location, Problem};
use crate::cli::mentions::{Offer, full_name};
use crate::library::roots::SkillRoot;
use crate::mcp::tools::problem_view::severity_word;
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
pub struct Report {
    /// How many skills are served all the same.
    pub skills: u32,
    pub errors: usize,
    pub warnings: usize,
    /// By file, line, column and code.
    pub problems: Vec<Told>,
    /// Those that nobody wanted to hear of, in the same order.
    pub silenced: Vec<Told>,
    /// What `--fix` did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mended: Vec<Mended>,
    /// By skill and place.
    pub mentions: Vec<Mentioned>,
    #[serde(skip)]
    folders: Folders,
    /// Codes that the command line allows.
    #[serde(skip)]
    allow: Vec<String>,
    /// Codes that files allow themselves.
    #[serde(skip)]
    allowed: HashMap<Place, Vec<String>>,
}

/// Root and path of a file.
type Place = (u32, String);

#[derive(Serialize)]
pub struct Told {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    pub severity: &'static str,
    pub code: String,
    pub message: String,
    pub advice: String,
    /// Whether `--fix` mends it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mechanical: bool,
    root: String,
    #[serde(skip)]
    pub silencer: Option<Silencer>,
}

/// Who does not want to hear of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silencer {
    /// The file, by a comment in it.
    File,
    /// Whoever runs the command.
    Command,
}

#[derive(Serialize)]
pub struct Mentioned {
    pub skill: String,
    pub tool: String,
    file: String,
    line: u32,
    column: u32,
    #[serde(flatten)]
    pub offer: Offer,
}

/// A mention of a tool, and whether this server offers it.
pub struct Used {
    pub mention: Mention,
    pub offer: Offer,
}

/// The roots, as seen from the working folder.
pub struct Folders(Vec<(String, PathBuf)>);

impl Folders {
    pub fn new(roots: &[SkillRoot], working_folder: &Path) -> Self {
        let folder = |root: &SkillRoot| {
            let path = root.path();
            let shown = path.strip_prefix(working_folder).map_or(path.clone(), PathBuf::from);
            (root.label.clone(), shown)
        };
        Self(roots.iter().map(folder).collect())
    }

    /// All of them in their order.
    pub fn all(&self) -> Vec<String> {
        self.0.iter().map(|(_, shown)| shown.display().to_string()).collect()
    }

    pub fn shown(&self, location: &Location) -> String {
        let folder = self.0.get(location.root as usize).map(|(_, shown)| shown.as_path());
        let path = folder.unwrap_or_else(|| Path::new("")).join(&location.path);
        let shown = path.display().to_string();
        // The root itself, when that is the working folder.
        if shown.is_empty() { ".".to_owned() } else { shown }
    }

    fn label(&self, location: &Location) -> String {
        self.0.get(location.root as usize).map(|(label, _)| label.clone()).unwrap_or_default()
    }
}

impl Report {
    /// One without problems.
    pub fn new(folders: Folders, skills: u32, allow: Vec<String>) -> Self {
        Self {
            skills,
            errors: 0,
            warnings: 0,
            problems: Vec::new(),
            silenced: Vec::new(),
            mended: Vec::new(),
            mentions: Vec::new(),
            folders,
            allow,
            allowed: HashMap::new(),
        }
    }

    /// Notes what is said about a file.
    pub fn add(&mut self, reviewed: ReviewedFile) {
        let ReviewedFile { file, remarks, allowed } = reviewed;
        self.allowed.insert((file.root, file.path), allowed);
        for remark in remarks {
            let Remark { problem, edits, silenced } = remark;
            let Problem { location, line, column, severity, code, message, advice } = problem;
            // The engine knows best what a file allows; it may know more than it says.
            let silencer = self.silencer(&location, &code).or(silenced.then_some(Silencer::File));
            let (file, root) = (self.folders.shown(&location), self.folders.label(&location));
            let (severity, mechanical) = (severity_word(severity), !edits.is_empty());
            self.tell(Told { file, line, column, severity, code, message, advice, mechanical, root, silencer });
        }
    }

    /// Notes a mention, and what is wrong with it. Comes after what is said about its file.
    pub fn add_mention(&mut self, used: Used) {
        let Used { mention, offer } = used;
        let file = self.folders.shown(&mention.file);
        let Mention { line, column, .. } = mention;
        if let Some(wrong) = offer.wrong(&mention) {
            self.tell(Told {
                file: file.clone(),
                line: Some(line),
                column: Some(column),
                severity: "warning",
                code: wrong.code.to_owned(),
                message: wrong.message,
                advice: wrong.advice,
                mechanical: false,
                root: self.folders.label(&mention.file),
                silencer: self.silencer(&mention.file, wrong.code),
            });
        }
        let tool = full_name(&mention.server, &mention.tool);
        self.mentions.push(Mentioned { skill: mention.skill, tool, file, line, column, offer });
    }

    /// Sorted and counted.
    pub fn finished(mut self) -> Self {
        for list in [&mut self.problems, &mut self.silenced] {
            list.sort_by(|left, right| {
                let place = |told: &Told| (told.line, told.column);
                (&left.file, place(left), &left.code).cmp(&(&right.file, place(right), &right.code))
            });
        }
        self.errors = self.problems.iter().filter(|told| told.severity == "error").count();
        self.warnings = self.problems.len() - self.errors;
        self
    }

    fn tell(&mut self, told: Told) {
        if told.silencer.is_some() { &mut self.silenced } else { &mut self.problems }.push(told);
    }

    fn silencer(&self, location: &Location, code: &str) -> Option<Silencer> {
        let in_file = self.allowed.get(&(location.root, location.path.clone()));
        let in_file = in_file.is_some_and(|codes| codes.iter().any(|allowed| allowed == code));
        let by_command = || self.allow.iter().any(|allowed| allowed == code).then_some(Silencer::Command);
        if in_file { Some(Silencer::File) } else { by_command() }
    }
}
