//! What the operator lets scripts have, what a script asks for, and the part of it that is given.

pub mod folders;
pub mod hosts;

use crate::sha256::Sha256;
use folders::{Granted, Wanted, WorkingFolder};
use hosts::HostPattern;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Everything the operator grants. Each grant is for one skill of one root, so that a skill elsewhere gains nothing by
/// taking its name.
#[derive(Debug, Clone, Default)]
pub struct Grants {
    /// The operator's file, for telling where to add a line.
    pub file: PathBuf,
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub root: PathBuf,
    pub skill_path: String,
    pub grant: Grant,
}

/// What the scripts of one skill may have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grant {
    /// Folders of this machine that may be the working folder, or be in it.
    pub read: Vec<PathBuf>,
    /// The same for writing; files too.
    pub write: Vec<PathBuf>,
    pub variables: BTreeSet<String>,
    pub hosts: Vec<HostPattern>,
    /// The grant holds only while the skill has exactly these bytes.
    pub digest: Option<Sha256>,
}

impl Grants {
    /// The grant for a skill, compared by the real folder of its root.
    pub fn of(&self, root: &Path, skill_path: &str) -> Option<&Grant> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let root = real(root);
        let entry = self.entries.iter().find(|entry| entry.skill_path == skill_path && real(&entry.root) == root);
        entry.map(|entry| &entry.grant)
    }
}

/// What a script says in its front matter that it needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Paths below the working folder; `.` is all of it.
    pub read: Vec<String>,
    pub write: Vec<String>,
    pub variables: Vec<String>,
    pub hosts: Vec<String>,
}

/// Who asks, for telling.
#[derive(Debug, Clone, Copy)]
pub struct Asker<'a> {
    pub root: &'a Path,
    pub skill_path: &'a str,
    pub script: &'a str,
}

/// What a script gets.
#[derive(Debug, Default)]
pub struct Settled {
    pub work: Option<WorkingFolder>,
    /// Names of variables of the host.
    pub variables: Vec<String>,
    pub hosts: Vec<HostPattern>,
    /// What was asked for and not granted, each with the lines that would grant it.
    pub refusals: Vec<String>,
}

/// The part of what is asked that is granted.
///
/// Variables and hosts have to be asked for by the script. The working folder is asked for by whoever gives one; a script
/// that says what it needs gets no more of it than that.
pub fn settle(
    asker: Asker<'_>,
    needs: Option<&Needs>,
    working_folder: Option<&Path>,
    grant: &Grant,
    file: &Path,
) -> Settled {
    let mut settled = Settled::default();
    let tell = |want: &str, key: &str, value: &str| {
        let Asker { root, skill_path, script } = asker;
        let lines = format!(
            "grants:\n  {}:\n    {}:\n      {key}: [{}]",
            scalar(&root.display()),
            scalar(&skill_path),
            scalar(&value)
        );
        format!("script `{script}` wants to {want}, and no grant covers it\nhint: add to {}:\n{lines}", file.display())
    };
    let never = |what: &str, reason: &str| {
        format!("script `{}` asks for `{}`, which cannot be granted: {reason}", asker.script, what.escape_debug())
    };
    if let Some(path) = working_folder {
        let wanted = needs.map_or(Wanted::Everything, |needs| Wanted::Paths { read: &needs.read, write: &needs.write });
        let granted = Granted { read: &grant.read, write: &grant.write };
        let (work, missing) = folders::lend(path, wanted, granted);
        settled.work = work;
        for missing in missing {
            if !missing.path.is_absolute() {
                settled.refusals.push(never(&missing.path.display().to_string(), "it leaves the working folder"));
                continue;
            }
            let key = if missing.write { "write" } else { "read" };
            settled.refusals.push(tell(
                &format!("{key} `{}`", missing.path.display()),
                key,
                &missing.path.display().to_string(),
            ));
        }
    } else if let Some(needs) = needs.filter(|needs| !needs.read.is_empty() || !needs.write.is_empty()) {
        let wanted: Vec<&str> = needs.read.iter().chain(&needs.write).map(String::as_str).collect();
        settled.refusals.push(format!(
            "script `{}` wants to use `{}` in the working folder, and none was given\nhint: call it with `cwd`",
            asker.script,
            wanted.join("`, `").escape_debug()
        ));
    }
    for name in needs.iter().flat_map(|needs| &needs.variables) {
        if !is_variable(name) {
            settled.refusals.push(never(name, "it is no variable, or one that every script has"));
        } else if grant.variables.contains(name) {
            settled.variables.push(name.clone());
        } else {
            settled.refusals.push(tell(&format!("read the variable `{}`", name.escape_debug()), "env", name));
        }
    }
    for text in needs.iter().flat_map(|needs| &needs.hosts) {
        match text.parse::<HostPattern>() {
            Ok(host) if grant.hosts.iter().any(|granted| granted.covers(&host)) => {
                // How far it reaches is for the operator to say.
                settled.hosts.extend(
                    grant.hosts.iter().filter(|granted| granted.covers(&host)).map(|granted| host.reaching(granted)),
                );
            }
            Ok(host) => settled.refusals.push(tell(&format!("connect to `{host}`"), "hosts", &host.to_string())),
            Err(invalid) => {
                settled.refusals.push(format!("script `{}` asks for a host that is none: {invalid}", asker.script));
            }
        }
    }
    settled
}

/// The names of a script's own variables cannot be taken.
pub fn is_variable(name: &str) -> bool {
    let legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    !name.is_empty() && name.chars().all(legal) && !name.starts_with("SKILL_") && !OWN.contains(&name)
}

/// Variables that every script has, as places in the sandbox.
const OWN: [&str; 3] = ["PWD", "HOME", "TMPDIR"];

/// A value as it has to be written in YAML.
fn scalar(value: &impl std::fmt::Display) -> String {
    let text = value.to_string();
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-');
    let starts_well = text.starts_with(|letter: char| letter.is_alphabetic() || matches!(letter, '/' | '_' | '.'));
    // What JSON quotes, YAML reads.
    if starts_well && text.chars().all(plain) { text } else { serde_json::Value::String(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(needs: &Needs, grant: &Grant) -> Settled {
        let asker = Asker { root: Path::new("/team/skills"), skill_path: "release/tag", script: "scripts/tag.py" };
        settle(asker, Some(needs), None, grant, Path::new("/home/me/config.yaml"))
    }

    #[test]
    fn only_what_is_asked_and_granted_is_given() {
        let needs = Needs {
            variables: vec!["TOKEN".to_owned(), "HOME".to_owned()],
            hosts: vec!["api.example.com".to_owned(), "evil.example.org".to_owned()],
            ..Needs::default()
        };
        let grant = Grant {
            variables: ["TOKEN".to_owned(), "UNASKED".to_owned()].into(),
            hosts: vec!["*.example.com".parse().unwrap()],
            ..Grant::default()
        };
        let settled = settled(&needs, &grant);
        assert_eq!(settled.variables, ["TOKEN"]);
        assert_eq!(settled.hosts, ["api.example.com".parse().unwrap()]);
        assert_eq!(settled.refusals.len(), 2, "{:?}", settled.refusals);
    }

    #[test]
    fn without_a_grant_nothing_is_given_and_the_lines_to_add_are_told() {
        let needs = Needs { variables: vec!["TOKEN".to_owned()], ..Needs::default() };
        let settled = settled(&needs, &Grant::default());
        assert!(settled.variables.is_empty());
        assert_eq!(
            settled.refusals,
            ["script `scripts/tag.py` wants to read the variable `TOKEN`, and no grant covers it\n\
              hint: add to /home/me/config.yaml:\n\
              grants:\n  /team/skills:\n    release/tag:\n      env: [TOKEN]"]
        );
    }

    #[test]
    fn values_are_quoted_where_yaml_needs_it() {
        assert_eq!(scalar(&"/a b"), "\"/a b\"");
        assert_eq!(scalar(&"*.example.com"), "\"*.example.com\"");
        assert_eq!(scalar(&"a: b"), "\"a: b\"");
        assert_eq!(scalar(&"release/tag"), "release/tag");
    }
}
