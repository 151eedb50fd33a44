//! Decides what one run gets: limits, folders, variables and hosts; and what it is refused.

use super::Inner;
use super::digest::{DigestError, SkillContents};
use crate::grants::folders::Part;
use crate::grants::{self, Grant, Settled};
use crate::input::{Input, InputFile};
use crate::options::Runner;
use crate::refusal::{Refusal, ScriptId};
use base::digest::Sha256;
use base::environment::variable;
use base::place::Place;
use bindings::catalog::{FoundScript, ScriptLimits};
use bytes::Bytes;
use library::roots::SkillRoot;
use packages::installed::{Archive, Unusable};
use sandbox::files::protected::ProtectedPlace;
use sandbox::hosts::HostPattern;
use sandbox::limits::Limits;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The terms of one run, for reports and the audit record.
#[derive(Debug)]
pub struct Policy {
    /// Address of the requested skill.
    pub address: String,
    /// The skill that owns the script, and the label of its root.
    pub skill_path: String,
    pub root: String,
    pub script: String,
    pub resolved_from: Option<String>,
    pub runner: Runner,
    pub runtime_digest: Option<Sha256>,
    pub script_digest: Sha256,
    /// Set only if the grant pins it, or if it was requested.
    pub skill_digest: Option<Sha256>,
    /// Of the archive of packages, or why there is none although there should be.
    pub packages: Result<Option<Sha256>, Arc<Unusable>>,
    pub argument_names: Vec<String>,
    /// How many arguments by position.
    pub argv: usize,
    pub stdin_bytes: usize,
    pub input_files: Vec<HandedFile>,
    pub limits: Limits,
    pub working_folder: Option<Place>,
    /// Paths in the sandbox.
    pub readable: Vec<String>,
    pub writable: Vec<String>,
    pub variables: Vec<String>,
    pub hosts: Vec<HostPattern>,
    pub refusals: Vec<Refusal>,
}

/// A file that the caller hands to a script, as reports name it.
#[derive(Debug, Serialize)]
pub struct HandedFile {
    pub path: String,
    pub size: usize,
    pub sha256: String,
}

/// What a run can access besides its script.
pub struct GrantedAccess {
    pub work: Vec<Part>,
    pub protected: Vec<ProtectedPlace>,
    pub variables: Vec<(String, String)>,
    /// The files of a pinned skill, as they were checked.
    pub frozen: Option<BTreeMap<String, Bytes>>,
    /// The archive of packages.
    pub packages: Option<Arc<Archive>>,
}

impl HandedFile {
    fn new(file: &InputFile) -> Self {
        Self { path: file.path.clone(), size: file.bytes.len(), sha256: Sha256::of(&file.bytes).hex() }
    }
}

pub struct Inputs<'a> {
    pub found: &'a FoundScript,
    pub terms: &'a ScriptLimits,
    pub working_folder: Option<Place>,
    pub arguments: Vec<(String, String)>,
    pub input: &'a Input,
    pub runner: Runner,
    pub runtime_digest: Option<Sha256>,
    pub script_digest: Sha256,
    /// Compute the digest of the skill even if the grant does not pin it.
    pub with_skill_digest: bool,
}

pub(super) fn decide(
    inner: &Inner,
    inputs: Inputs<'_>,
    contents: impl Fn() -> Result<SkillContents, DigestError>,
) -> (Policy, GrantedAccess) {
    let Inputs { found, terms, working_folder, arguments, input, runner, runtime_digest, script_digest, .. } = inputs;
    let script = &found.script;
    let root = &inner.roots[script.folder.root as usize];
    let nothing = Grant::default();
    let file = Place::new(&inner.grants.file, "the operator's file");
    let granted = inner.grants.of(&root.path(), &found.skill_path);
    let mut refusals = Vec::new();
    let mut pinned = None;
    let grant = match granted.map(|grant| (grant, grant.digest)) {
        None => &nothing,
        Some((grant, None)) => grant,
        Some((grant, Some(expected))) => match contents() {
            Ok(contents) if contents.digest == expected => {
                pinned = Some(contents);
                grant
            }
            Ok(contents) => {
                let digest = contents.digest;
                refusals.push(Refusal::Changed { skill_path: found.skill_path.clone(), digest, file: file.clone() });
                &nothing
            }
            Err(reason) => {
                refusals.push(Refusal::NoDigest { skill_path: found.skill_path.clone(), reason, file: file.clone() });
                &nothing
            }
        },
    };
    let script_id = ScriptId { root: root.place(), skill_path: found.skill_path.clone(), script: script.file.clone() };
    // A script that could write its own grants, or skills that are served, would not need any other grant.
    let protected: Vec<ProtectedPlace> = match (&working_folder, &grant.write[..]) {
        (None, _) | (_, []) => Vec::new(),
        (Some(place), _) => {
            let known = inner.roots.iter().map(SkillRoot::path).chain([inner.grants.file.clone()]);
            let linked = grants::folders::linked_places(place.path(), grant);
            known.filter_map(|path| ProtectedPlace::at(&path)).chain(linked).collect()
        }
    };
    let needs = script.needs.as_ref();
    let mut settled = grants::settle(&script_id, needs, working_folder.as_ref(), grant, &protected, &file);
    // A script that declares nothing gets what the operator grants to its skill.
    if !script.declared {
        (settled.variables, settled.hosts) = (grant.variables.iter().cloned().collect(), grant.hosts.clone());
    }
    let Settled { work, variables, hosts, refusals: more } = settled;
    refusals.extend(more);
    let limits = inner.options.limits.lowered(&Limits {
        time: Duration::from_secs(terms.timeout_seconds),
        memory: usize::try_from(terms.memory_bytes).unwrap_or(usize::MAX),
        fuel: terms.fuel,
        output: usize::try_from(terms.max_output_bytes).unwrap_or(usize::MAX),
        scratch_bytes: terms.scratch_bytes,
        scratch_files: terms.scratch_files,
    });
    // Scripts of other languages can start Python.
    let can_import = matches!(runner, Runner::Bundled(_));
    let packages = if can_import { inner.packages.archive() } else { Ok(None) };
    let pinned_digest = pinned.as_ref().map(|contents| contents.digest);
    let current_digest = || inputs.with_skill_digest.then(|| contents().ok().map(|contents| contents.digest)).flatten();
    let sandbox_path = |at: &str, below: &str| {
        let names: Vec<&str> = ["/work", at, below].into_iter().filter(|name| !name.is_empty()).collect();
        names.join("/")
    };
    let policy = Policy {
        address: found.address.clone(),
        skill_path: found.skill_path.clone(),
        root: root.label.clone(),
        script: script.file.clone(),
        resolved_from: script.inherited_from.clone(),
        runner,
        runtime_digest,
        script_digest,
        skill_digest: pinned_digest.or_else(current_digest),
        packages: packages.as_ref().map(|archive| archive.as_ref().map(|archive| archive.digest)).map_err(Arc::clone),
        argument_names: arguments.iter().map(|(name, _)| name.clone()).collect(),
        argv: input.argv.len(),
        stdin_bytes: input.stdin.len(),
        input_files: input.files.iter().map(HandedFile::new).collect(),
        limits,
        working_folder: working_folder.filter(|_| !work.is_empty()),
        readable: work.iter().map(|part| sandbox_path(&part.at, "")).collect(),
        writable: work
            .iter()
            .flat_map(|part| part.writable.iter().map(|writable| sandbox_path(&part.at, &writable.below)))
            .collect(),
        variables: variables.clone(),
        hosts,
        refusals,
    };
    let values = variables.into_iter().filter_map(|name| Some((name.clone(), variable(&name)?)));
    let access = GrantedAccess {
        work,
        protected,
        variables: arguments.into_iter().chain(values).collect(),
        frozen: pinned.map(|contents| contents.files),
        packages: packages.ok().flatten(),
    };
    (policy, access)
}

/// In bytes, of all arguments. A request holds them while it waits.
const MAX_ARGUMENT_BYTES: usize = 128 << 10;

/// Why arguments cannot become variables.
#[derive(Debug, thiserror::Error)]
pub enum ArgumentError {
    #[error(
        "the arguments have {0} bytes, and the limit is {MAX_ARGUMENT_BYTES}\nhint: put large inputs into a file that the script may read"
    )]
    TooLarge(usize),
    #[error("an argument has no name\nhint: give each argument a name that the script knows")]
    NoName,
    #[error("the argument `{}` contains a NUL character\nhint: remove it", .0.escape_debug())]
    Nul(String),
    #[error(
        "the arguments `{}` and `{}` would both be `{variable}`\nhint: give only one of them",
        one.escape_debug(), other.escape_debug()
    )]
    Collision { one: String, other: String, variable: String },
}

/// Rejects arguments that are too large to be kept.
pub fn check_size(arguments: &BTreeMap<String, String>) -> Result<(), ArgumentError> {
    let size = arguments.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > MAX_ARGUMENT_BYTES { Err(ArgumentError::TooLarge(size)) } else { Ok(()) }
}

/// Converts arguments to variables. Two with the same variable are refused, because one would be lost.
pub fn argument_variables(arguments: &BTreeMap<String, String>) -> Result<Vec<(String, String)>, ArgumentError> {
    let mut variables: BTreeMap<String, (&str, &str)> = BTreeMap::new();
    for (name, value) in arguments {
        if name.is_empty() {
            return Err(ArgumentError::NoName);
        }
        if value.contains('\0') {
            return Err(ArgumentError::Nul(name.clone()));
        }
        let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
        let variable = format!("SKILL_ARG_{}", name.chars().map(letter).collect::<String>());
        if let Some((other, _)) = variables.insert(variable.clone(), (name, value)) {
            return Err(ArgumentError::Collision { one: other.to_owned(), other: name.clone(), variable });
        }
    }
    Ok(variables.into_iter().map(|(variable, (_, value))| (variable, value.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(names: &[&str]) -> Result<Vec<String>, ArgumentError> {
        let arguments = names.iter().map(|name| ((*name).to_owned(), "value".to_owned())).collect();
        argument_variables(&arguments).map(|list| list.into_iter().map(|(name, _)| name).collect())
    }

    #[test]
    fn arguments_become_variables() {
        assert_eq!(variables(&["file"]).unwrap(), ["SKILL_ARG_FILE"]);
        assert_eq!(
            variables(&["dry-run", "a.b", "été"]).unwrap(),
            ["SKILL_ARG_A_B", "SKILL_ARG_DRY_RUN", "SKILL_ARG__T_"]
        );
    }

    #[test]
    fn arguments_that_collide_or_have_no_name_are_refused() {
        assert!(variables(&["a-b", "a_b"]).unwrap_err().to_string().contains("would both be `SKILL_ARG_A_B`"));
        assert!(variables(&["File", "file"]).is_err());
        assert!(variables(&[""]).is_err());
        let nul = [("a".to_owned(), "b\0c".to_owned())].into();
        assert!(argument_variables(&nul).is_err());
    }
}
