//! What the operator says about scripts, made sure of.

use super::content::within;
use super::file::{RawGrant, RawScripts, Unique};
use crate::bindings::catalog::ScriptTerms;
use crate::grants::hosts::HostPattern;
use crate::grants::{Entry, Grant, Grants, is_variable};
use crate::sandbox::limits::Limits;
use crate::sandbox::runtimes::Language;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// The settings for scripts.
#[derive(Debug, Clone)]
pub struct Scripts {
    pub enabled: bool,
    pub limits: Limits,
    pub runs_at_once: usize,
    /// Scripts see the same time and the same chance in every run.
    pub deterministic: bool,
    /// With their dot, in lower case.
    pub allowed_extensions: BTreeSet<String>,
    pub runners: BTreeMap<String, Runner>,
}

/// What runs the scripts of one extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runner {
    /// The script is WebAssembly itself.
    Itself,
    Bundled(Language),
    /// A component of world `script-runtime`.
    Component(PathBuf),
}

/// Extensions that run without further ado.
const USUAL: [(&str, Runner); 7] = [
    (".py", Runner::Bundled(Language::Python)),
    (".js", Runner::Bundled(Language::JavaScript)),
    (".mjs", Runner::Bundled(Language::JavaScript)),
    (".cjs", Runner::Bundled(Language::JavaScript)),
    (".ts", Runner::Bundled(Language::JavaScript)),
    (".sh", Runner::Bundled(Language::Shell)),
    (".wasm", Runner::Itself),
];

/// Times that a script may be given, in seconds: up to a day.
const SECONDS: RangeInclusive<u64> = 1..=86_400;

impl Default for Scripts {
    fn default() -> Self {
        Self {
            enabled: true,
            limits: Limits::default(),
            runs_at_once: std::thread::available_parallelism().map_or(1, NonZero::get),
            deterministic: false,
            allowed_extensions: USUAL.iter().map(|(extension, _)| (*extension).to_owned()).collect(),
            runners: USUAL.iter().map(|(extension, runner)| ((*extension).to_owned(), runner.clone())).collect(),
        }
    }
}

impl Scripts {
    /// What the engine has to know, to tell where content tries to get more.
    pub fn terms(&self) -> ScriptTerms {
        ScriptTerms {
            enabled: self.enabled,
            timeout_seconds: self.limits.time.as_secs(),
            max_output_bytes: self.limits.output as u64,
            memory_bytes: self.limits.memory as u64,
            fuel: self.limits.fuel,
            scratch_bytes: self.limits.scratch_bytes,
            scratch_files: self.limits.scratch_files,
            allowed_extensions: self.allowed_extensions.iter().cloned().collect(),
        }
    }
}

pub fn resolve(raw: RawScripts, path: impl Fn(&str) -> PathBuf) -> Result<Scripts, String> {
    let usual = Scripts::default();
    let seconds = positive("timeout_seconds", raw.timeout_seconds)?;
    let limits = Limits {
        time: within("scripts.timeout_seconds", seconds, SECONDS)?.map_or(usual.limits.time, Duration::from_secs),
        memory: positive("memory_bytes", raw.memory_bytes)?.unwrap_or(usual.limits.memory),
        fuel: positive("fuel", raw.fuel)?.unwrap_or(usual.limits.fuel),
        output: raw.max_output_bytes.unwrap_or(usual.limits.output),
        scratch_bytes: raw.scratch_bytes.unwrap_or(usual.limits.scratch_bytes),
        scratch_files: raw.scratch_files.unwrap_or(usual.limits.scratch_files),
    };
    let mut runners = usual.runners;
    for (said, name) in raw.runners.0 {
        let extension = extension("runners", &said)?;
        let runner = match Language::called(&name) {
            Some(language) => Runner::Bundled(language),
            None if name.ends_with(".wasm") => Runner::Component(path(&name)),
            None => {
                return Err(format!(
                    "scripts.runners: `{name}` is no runtime\nhint: write python, javascript, shell, or the path of a component that ends in .wasm"
                ));
            }
        };
        runners.insert(extension, runner);
    }
    let allowed =
        raw.allowed_extensions.map(|list| list.iter().map(|said| extension("allowed_extensions", said)).collect());
    Ok(Scripts {
        enabled: raw.enabled.unwrap_or(usual.enabled),
        limits,
        runs_at_once: positive("runs_at_once", raw.runs_at_once)?.unwrap_or(usual.runs_at_once),
        deterministic: raw.deterministic.unwrap_or(false),
        allowed_extensions: allowed.transpose()?.unwrap_or(usual.allowed_extensions),
        runners,
    })
}

/// With a dot in front, in lower case.
fn extension(key: &str, said: &str) -> Result<String, String> {
    let name = said.trim().trim_start_matches('.').to_ascii_lowercase();
    let legal = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric());
    if legal {
        Ok(format!(".{name}"))
    } else {
        Err(format!("scripts.{key}: `{said}` is no extension\nhint: write one as in `.py`"))
    }
}

fn positive<T: PartialEq + Default>(name: &str, said: Option<T>) -> Result<Option<T>, String> {
    if said.as_ref() == Some(&T::default()) {
        return Err(format!(
            "scripts.{name} is 0, and must be more\nhint: `scripts.enabled: false` switches scripts off"
        ));
    }
    Ok(said)
}

pub fn grants(raw: Unique<Unique<RawGrant>>, file: PathBuf, path: impl Fn(&str) -> PathBuf) -> Result<Grants, String> {
    let mut entries = Vec::new();
    for (root, skills) in raw.0 {
        for (skill_path, raw) in skills.0 {
            let place = format!("grants, {root}, {skill_path}");
            let grant = grant(raw, &path).map_err(|message| format!("{place}: {message}"))?;
            entries.push(Entry { root: path(&root), skill_path, grant });
        }
    }
    Ok(Grants { file, entries })
}

fn grant(raw: RawGrant, path: impl Fn(&str) -> PathBuf) -> Result<Grant, String> {
    let folders = |list: &[String]| -> Result<Vec<PathBuf>, String> {
        let absolute = |text: &String| {
            // A path relative to the file would mean another folder when the file moves.
            let clear = text.starts_with('/') || text == "~" || text.starts_with("~/");
            if clear { Ok(path(text)) } else { Err(format!("`{text}` must begin with `/` or `~/`")) }
        };
        list.iter().map(absolute).collect()
    };
    if let Some(name) = raw.env.iter().find(|name| !is_variable(name)) {
        return Err(format!("`{}` is no variable that can be granted", name.escape_debug()));
    }
    let hosts: Result<Vec<HostPattern>, _> = raw.hosts.iter().map(|text| text.parse()).collect();
    Ok(Grant {
        read: folders(&raw.read)?,
        write: folders(&raw.write)?,
        variables: raw.env.into_iter().collect(),
        hosts: hosts.map_err(|invalid: crate::grants::hosts::InvalidHost| invalid.to_string())?,
        digest: raw
            .digest
            .map(|text| text.parse())
            .transpose()
            .map_err(|invalid: crate::sha256::InvalidDigest| invalid.to_string())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(yaml: &str) -> Result<Scripts, String> {
        resolve(serde_yaml::from_str(yaml).unwrap(), |text| PathBuf::from("/etc").join(text))
    }

    #[test]
    fn runners_are_runtimes_their_commands_or_components() {
        let scripts = scripts("runners: {.sh: bash, TS: npx tsx, .rb: ruby.wasm}").unwrap();
        assert_eq!(scripts.runners[".sh"], Runner::Bundled(Language::Shell));
        assert_eq!(scripts.runners[".ts"], Runner::Bundled(Language::JavaScript));
        assert_eq!(scripts.runners[".rb"], Runner::Component("/etc/ruby.wasm".into()));
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        for (yaml, part) in [
            ("runners: {.rb: ruby}", "`ruby` is no runtime"),
            ("allowed_extensions: [a/b]", "`a/b` is no extension"),
            ("timeout_seconds: 0", "scripts.timeout_seconds is 0"),
            ("runs_at_once: 0", "scripts.runs_at_once is 0"),
            ("timeout_seconds: 18446744073709551615", "must be from 1 to 86400"),
        ] {
            let message = scripts(yaml).unwrap_err();
            assert!(message.contains(part), "{yaml}: {message}");
        }
    }

    #[test]
    fn grants_that_make_no_sense_are_refused() {
        for (yaml, part) in [
            ("/a: {s: {read: [project]}}", "`project` must begin with"),
            ("/a: {s: {env: [SKILL_DIR]}}", "no variable that can be granted"),
            ("/a: {s: {env: [HOME]}}", "no variable that can be granted"),
            ("/a: {s: {hosts: ['*']}}", "`*` is no host"),
            ("/a: {s: {digest: abc}}", "`abc` is no digest"),
        ] {
            let message =
                grants(serde_yaml::from_str(yaml).unwrap(), PathBuf::new(), |text| PathBuf::from(text)).unwrap_err();
            assert!(message.contains(part) && message.contains("grants, /a, s"), "{yaml}: {message}");
        }
    }
}
