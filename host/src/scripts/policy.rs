//! What one run gets: limits, folders, variables, hosts; and what it asked for in vain.

use super::digest::{NoDigest, Skill};
use crate::bindings::catalog::{FoundScript, ScriptTerms};
use crate::config::{Config, Runner, variable};
use crate::grants::folders::WorkingFolder;
use crate::grants::hosts::HostPattern;
use crate::grants::{self, Asker, Grant, Needs, Settled};
use crate::library::roots::SkillRoot;
use crate::sandbox::limits::Limits;
use crate::sha256::Sha256;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The terms of one run, for telling.
#[derive(Debug)]
pub struct Policy {
    /// Address of the skill that was asked for.
    pub address: String,
    /// The skill that owns the script, and the label of its root.
    pub skill_path: String,
    pub root: String,
    pub script: String,
    pub resolved_from: Option<String>,
    pub runtime: String,
    pub runtime_digest: Option<Sha256>,
    pub script_digest: Sha256,
    /// Only known when the grant pins it, or somebody asks.
    pub skill_digest: Option<Sha256>,
    pub argument_names: Vec<String>,
    pub limits: Limits,
    pub working_folder: Option<PathBuf>,
    /// Parts of it that can be read, and those that can be written.
    pub readable: Vec<String>,
    pub writable: Vec<String>,
    pub variables: Vec<String>,
    pub hosts: Vec<HostPattern>,
    pub refusals: Vec<String>,
}

/// What a run is lent besides its script.
pub struct Lendable {
    pub work: Option<WorkingFolder>,
    pub variables: Vec<(String, String)>,
    /// The skill's files as they were checked, when a grant depends on them.
    pub frozen: Option<BTreeMap<String, Bytes>>,
}

pub struct Inputs<'a> {
    pub config: &'a Config,
    pub root: &'a SkillRoot,
    pub found: &'a FoundScript,
    pub terms: &'a ScriptTerms,
    pub working_folder: Option<&'a Path>,
    pub arguments: Vec<(String, String)>,
    pub runner: &'a Runner,
    pub runtime_digest: Option<Sha256>,
    pub script_digest: Sha256,
    /// The digest of the whole skill is asked for, even if no grant depends on it.
    pub digest_wanted: bool,
}

pub fn decide(inputs: Inputs<'_>, skill: impl Fn() -> Result<Skill, NoDigest>) -> (Policy, Lendable) {
    let Inputs { config, root, found, terms, working_folder, arguments, runner, .. } = inputs;
    let Inputs { runtime_digest, script_digest, digest_wanted, .. } = inputs;
    let script = &found.script;
    let needs = script.needs.as_ref().map(|needs| Needs {
        read: needs.read.clone(),
        write: needs.write.clone(),
        variables: needs.variables.clone(),
        hosts: needs.hosts.clone(),
    });
    let nothing = Grant::default();
    let granted = config.grants.of(&root.path(), &found.skill_path);
    let mut refusals = Vec::new();
    let mut pinned = None;
    let grant = match granted.map(|grant| (grant, grant.digest)) {
        None => &nothing,
        Some((grant, None)) => grant,
        Some((grant, Some(expected))) => match skill() {
            Ok(skill) if skill.digest == expected => {
                pinned = Some(skill);
                grant
            }
            Ok(skill) => {
                refusals.push(format!(
                    "the grant for `{}` is void: the skill changed since it was pinned\nhint: review it, then write `digest: {}` in {}",
                    found.skill_path,
                    skill.digest,
                    config.grants.file.display()
                ));
                &nothing
            }
            Err(reason) => {
                refusals.push(format!(
                    "the grant for `{}` is void: its digest cannot be made, because {reason}\nhint: make the skill smaller, or remove `digest` from the grant in {}",
                    found.skill_path,
                    config.grants.file.display()
                ));
                &nothing
            }
        },
    };
    let asker = Asker { root: &root.path(), skill_path: &found.skill_path, script: &script.file };
    let settled = grants::settle(asker, needs.as_ref(), working_folder, grant, &config.grants.file);
    let Settled { work, variables, hosts, refusals: more } = settled;
    refusals.extend(more);
    let limits = config.scripts.limits.lowered(&Limits {
        time: Duration::from_secs(terms.timeout_seconds),
        memory: usize::try_from(terms.memory_bytes).unwrap_or(usize::MAX),
        fuel: terms.fuel,
        output: usize::try_from(terms.max_output_bytes).unwrap_or(usize::MAX),
        scratch_bytes: terms.scratch_bytes,
        scratch_files: terms.scratch_files,
    });
    let known = pinned.as_ref().map(|skill| skill.digest);
    let skill_digest = known.or_else(|| digest_wanted.then(|| skill().ok().map(|skill| skill.digest)).flatten());
    let parts = work.as_ref().map_or(&[][..], |work| &work.parts[..]);
    let place = |at: &str, below: &str| {
        let names: Vec<&str> = ["/work", at, below].into_iter().filter(|name| !name.is_empty()).collect();
        names.join("/")
    };
    let policy = Policy {
        address: found.address.clone(),
        skill_path: found.skill_path.clone(),
        root: root.label.clone(),
        script: script.file.clone(),
        resolved_from: script.inherited_from.clone(),
        runtime: runtime_name(runner),
        runtime_digest,
        script_digest,
        skill_digest,
        argument_names: arguments.iter().map(|(name, _)| name.clone()).collect(),
        limits,
        working_folder: working_folder.filter(|_| work.is_some()).map(Path::to_owned),
        readable: parts.iter().map(|part| place(&part.at, "")).collect(),
        writable: parts
            .iter()
            .flat_map(|part| part.writable.iter().map(|writable| place(&part.at, &writable.below)))
            .collect(),
        variables: variables.clone(),
        hosts,
        refusals,
    };
    let values = variables.into_iter().filter_map(|name| Some((name.clone(), variable(&name)?)));
    let lendable = Lendable {
        work,
        variables: arguments.into_iter().chain(values).collect(),
        frozen: pinned.map(|skill| skill.files),
    };
    (policy, lendable)
}

pub fn runtime_name(runner: &Runner) -> String {
    match runner {
        Runner::Itself => "wasm".to_owned(),
        Runner::Bundled(language) => language.name().to_owned(),
        Runner::Component(path) => path.display().to_string(),
    }
}

/// Arguments as variables. Two that would become the same are refused, because one would be lost.
pub fn argument_variables(arguments: &BTreeMap<String, String>) -> Result<Vec<(String, String)>, String> {
    let mut variables: BTreeMap<String, (&str, &str)> = BTreeMap::new();
    for (name, value) in arguments {
        if name.is_empty() {
            return Err("an argument has no name\nhint: give each a name that the script knows".to_owned());
        }
        if value.contains('\0') {
            return Err(format!("the argument `{}` contains a NUL\nhint: leave it out", name.escape_debug()));
        }
        let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
        let variable = format!("SKILL_ARG_{}", name.chars().map(letter).collect::<String>());
        if let Some((other, _)) = variables.insert(variable.clone(), (name, value)) {
            return Err(format!(
                "the arguments `{}` and `{}` would both be `{variable}`\nhint: give only one of them",
                other.escape_debug(),
                name.escape_debug()
            ));
        }
    }
    Ok(variables.into_iter().map(|(variable, (_, value))| (variable, value.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(names: &[&str]) -> Result<Vec<String>, String> {
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
        assert!(variables(&["a-b", "a_b"]).unwrap_err().contains("would both be `SKILL_ARG_A_B`"));
        assert!(variables(&["File", "file"]).is_err());
        assert!(variables(&[""]).is_err());
        let nul = [("a".to_owned(), "b\0c".to_owned())].into();
        assert!(argument_variables(&nul).is_err());
    }
}
