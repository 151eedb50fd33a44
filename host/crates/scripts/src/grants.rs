//! What the operator grants to scripts, what a script asks for, and the part of it that it gets.

pub mod folders;

use crate::refusal::{Refusal, ScriptId, Wish};
use base::digest::Sha256;
use base::place::Place;
use bindings::catalog::Needs;
use folders::{MissingGrant, Part};
use sandbox::files::protected::ProtectedPlace;
use sandbox::hosts::HostPattern;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// All grants. Each is for one skill of one root, so that a skill elsewhere cannot obtain it by using the same name.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    /// The operator's file, named in hints.
    pub file: PathBuf,
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub root: PathBuf,
    pub skill_path: String,
    pub grant: Grant,
}

/// What the scripts of one skill may access.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grant {
    /// Folders that may be the working folder, or be inside it.
    pub read: Vec<PathBuf>,
    /// Folders and files that may be written.
    pub write: Vec<PathBuf>,
    pub variables: BTreeSet<String>,
    pub hosts: Vec<HostPattern>,
    /// If set, the grant applies only while the skill has this digest.
    pub digest: Option<Sha256>,
}

impl Grants {
    /// Returns the grant of a skill. Roots are compared by their canonical paths.
    pub fn of(&self, root: &Path, skill_path: &str) -> Option<&Grant> {
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let root = canonical(root);
        let entry = self.entries.iter().find(|entry| entry.skill_path == skill_path && canonical(&entry.root) == root);
        entry.map(|entry| &entry.grant)
    }
}

/// What a script is granted.
#[derive(Debug, Default)]
pub struct Settled {
    /// Opened parts of the working folder.
    pub work: Vec<Part>,
    /// Names of variables of the host.
    pub variables: Vec<String>,
    pub hosts: Vec<HostPattern>,
    pub refusals: Vec<Refusal>,
}

/// Grants the part of a request that the operator's grant covers.
///
/// Variables and hosts have to be requested by the script. The working folder is requested by the caller; a script that declares
/// its needs gets no more of it than that.
pub fn settle(
    script: &ScriptId,
    needs: Option<&Needs>,
    working_folder: Option<&Place>,
    grant: &Grant,
    protected: &[ProtectedPlace],
    file: &Place,
) -> Settled {
    let mut settled = Settled::default();
    let name = script.script.clone();
    let refusal = |wish: Wish| Refusal::NotGranted { script: script.clone(), wish, file: file.clone() };
    let never = |wish: &str, reason| Refusal::NeverGranted { script: name.clone(), wish: wish.to_owned(), reason };
    if let Some(place) = working_folder {
        let (work, missing) = folders::open_granted(place.path(), needs, grant, protected);
        settled.work = work;
        settled.refusals.extend(missing.iter().map(|missing| match missing {
            MissingGrant::Read(below) => refusal(Wish::Read(place.join(below))),
            MissingGrant::Write(below) => refusal(Wish::Write(place.join(below))),
            MissingGrant::NotAFolder => Refusal::NoSuchWorkingFolder { place: place.clone() },
            MissingGrant::Outside(path) => never(path, "it leaves the working folder"),
        }));
    } else if let Some(needs) = needs.filter(|needs| !needs.read.is_empty() || !needs.write.is_empty()) {
        let paths = needs.read.iter().chain(&needs.write).cloned().collect();
        settled.refusals.push(Refusal::NoWorkingFolder { script: name.clone(), paths });
    }
    for name in needs.iter().flat_map(|needs| &needs.variables) {
        if !is_variable(name) {
            settled.refusals.push(never(name, "it is not a variable name, or is one that every script has"));
        } else if grant.variables.contains(name) {
            settled.variables.push(name.clone());
        } else {
            settled.refusals.push(refusal(Wish::Variable(name.clone())));
        }
    }
    for text in needs.iter().flat_map(|needs| &needs.hosts) {
        match text.parse::<HostPattern>() {
            Ok(host) => {
                // Whether private addresses are reachable is up to the operator's pattern, not the script's.
                let covering = grant.hosts.iter().filter(|granted| granted.covers(&host));
                let hosts: Vec<HostPattern> = covering.map(|granted| host.with_access_of(granted)).collect();
                if hosts.is_empty() {
                    settled.refusals.push(refusal(Wish::Host(host)));
                }
                settled.hosts.extend(hosts);
            }
            Err(error) => settled.refusals.push(Refusal::InvalidHost { script: name.clone(), error }),
        }
    }
    settled
}

/// Whether a variable can be granted. The variables that every script has cannot.
pub fn is_variable(name: &str) -> bool {
    let is_valid = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !name.is_empty() && name.chars().all(is_valid) && !name.starts_with("SKILL_") && !RESERVED.contains(&name)
}

/// Variables that point every script to folders of its sandbox.
const RESERVED: [&str; 3] = ["PWD", "HOME", "TMPDIR"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_both_requested_and_granted_is_given() {
        let needs = Needs {
            read: Vec::new(),
            write: Vec::new(),
            variables: vec!["TOKEN".to_owned(), "HOME".to_owned()],
            hosts: vec!["api.example.com".to_owned(), "evil.example.org".to_owned()],
        };
        let grant = Grant {
            variables: ["TOKEN".to_owned(), "UNASKED".to_owned()].into(),
            hosts: vec!["*.example.com".parse().unwrap()],
            ..Grant::default()
        };
        let script = ScriptId { root: Place::default(), skill_path: String::new(), script: String::new() };
        let settled = settle(&script, Some(&needs), None, &grant, &[], &Place::default());
        assert_eq!(settled.variables, ["TOKEN"]);
        assert_eq!(settled.hosts, ["api.example.com".parse().unwrap()]);
        let [Refusal::NeverGranted { .. }, Refusal::NotGranted { wish: Wish::Host(_), .. }] = &settled.refusals[..]
        else {
            panic!("{:?}", settled.refusals)
        };
    }
}
