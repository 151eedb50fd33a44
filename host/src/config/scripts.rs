//! Resolves the settings of scripts, and the grants.

use super::content::within;
use super::file::{RawGrant, RawScripts, UniqueMap};
use guests::script::Language;
use sandbox::hosts::HostPattern;
use sandbox::limits::Limits;
use scripts::grants::{Entry, Grant, Grants, is_variable};
use scripts::{Options, Runner};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// Allowed timeouts, in seconds: up to a day.
const TIMEOUT_SECONDS: RangeInclusive<u64> = 1..=86_400;

pub fn resolve(raw: RawScripts, path: impl Fn(&str) -> PathBuf) -> Result<Options, String> {
    let defaults = Options::default();
    let seconds = positive("timeout_seconds", raw.timeout_seconds)?;
    let limits = Limits {
        time: within("scripts.timeout_seconds", seconds, TIMEOUT_SECONDS)?
            .map_or(defaults.limits.time, Duration::from_secs),
        memory: positive("memory_bytes", raw.memory_bytes)?.unwrap_or(defaults.limits.memory),
        fuel: positive("fuel", raw.fuel)?.unwrap_or(defaults.limits.fuel),
        output: raw.max_output_bytes.unwrap_or(defaults.limits.output),
        scratch_bytes: raw.scratch_bytes.unwrap_or(defaults.limits.scratch_bytes),
        scratch_files: raw.scratch_files.unwrap_or(defaults.limits.scratch_files),
    };
    let mut runners = defaults.runners;
    for (key, name) in raw.runners.unwrap_or_default().0 {
        let extension = extension("runners", &key)?;
        let runner = match Language::by_name(&name) {
            Some(language) => Runner::Bundled(language),
            None if name.ends_with(".wasm") => Runner::Component(path(&name)),
            None => {
                return Err(format!(
                    "scripts.runners: `{name}` is not a runtime\nhint: write python, javascript, shell, or the path of a component that ends in .wasm"
                ));
            }
        };
        runners.insert(extension, runner);
    }
    let allowed =
        raw.allowed_extensions.map(|list| list.iter().map(|text| extension("allowed_extensions", text)).collect());
    Ok(Options {
        enabled: raw.enabled.unwrap_or(defaults.enabled),
        undeclared: raw.undeclared.unwrap_or(defaults.undeclared),
        limits,
        runs_at_once: positive("runs_at_once", raw.runs_at_once)?.unwrap_or(defaults.runs_at_once),
        deterministic: raw.deterministic.unwrap_or(false),
        allowed_extensions: allowed.transpose()?.unwrap_or(defaults.allowed_extensions),
        runners,
    })
}

/// Normalizes an extension: with a leading dot, in lower case.
fn extension(key: &str, text: &str) -> Result<String, String> {
    let name = text.trim().trim_start_matches('.').to_ascii_lowercase();
    let is_valid = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric());
    if is_valid {
        Ok(format!(".{name}"))
    } else {
        Err(format!("scripts.{key}: `{text}` is not a file extension\nhint: write it as in `.py`"))
    }
}

fn positive<T: PartialEq + Default>(name: &str, value: Option<T>) -> Result<Option<T>, String> {
    if value.as_ref() == Some(&T::default()) {
        return Err(format!(
            "scripts.{name} is 0, and must be at least 1\nhint: `scripts.enabled: false` disables scripts"
        ));
    }
    Ok(value)
}

pub fn grants(
    raw: UniqueMap<UniqueMap<RawGrant>>,
    file: PathBuf,
    path: impl Fn(&str) -> PathBuf,
) -> Result<Grants, String> {
    let mut entries = Vec::new();
    for (root, skills) in raw.0 {
        for (skill_path, raw) in skills.0 {
            let key = format!("grants, {root}, {skill_path}");
            let grant = grant(raw, &path).map_err(|message| format!("{key}: {message}"))?;
            entries.push(Entry { root: path(&root), skill_path, grant });
        }
    }
    Ok(Grants { file, entries })
}

fn grant(raw: RawGrant, path: impl Fn(&str) -> PathBuf) -> Result<Grant, String> {
    let folders = |list: &[String]| -> Result<Vec<PathBuf>, String> {
        let absolute = |text: &String| {
            // A relative path would mean another folder once the file moves.
            let is_absolute = text.starts_with('/') || text == "~" || text.starts_with("~/");
            if is_absolute { Ok(path(text)) } else { Err(format!("`{text}` must begin with `/` or `~/`")) }
        };
        list.iter().map(absolute).collect()
    };
    if let Some(name) = raw.env.iter().find(|name| !is_variable(name)) {
        return Err(format!("`{}` is not a variable that can be granted", name.escape_debug()));
    }
    let hosts: Result<Vec<HostPattern>, _> = raw.hosts.iter().map(|text| text.parse()).collect();
    let digest = raw.digest.map(|text| text.parse());
    Ok(Grant {
        read: folders(&raw.read)?,
        write: folders(&raw.write)?,
        variables: raw.env.into_iter().collect(),
        hosts: hosts.map_err(|invalid: sandbox::hosts::InvalidHost| invalid.to_string())?,
        digest: digest.transpose().map_err(|invalid: base::digest::InvalidDigest| invalid.to_string())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(yaml: &str) -> Result<Options, String> {
        resolve(serde_yaml::from_str(yaml).unwrap(), |text| PathBuf::from("/etc").join(text))
    }

    #[test]
    fn runners_are_runtimes_commands_or_components() {
        let scripts = scripts("runners: {.sh: bash, TS: npx tsx, .rb: ruby.wasm}").unwrap();
        assert_eq!(scripts.runners[".sh"], Runner::Bundled(Language::by_name("shell").unwrap()));
        assert_eq!(scripts.runners[".ts"], Runner::Bundled(Language::by_name("javascript").unwrap()));
        assert_eq!(scripts.runners[".rb"], Runner::Component("/etc/ruby.wasm".into()));
    }

    #[test]
    fn invalid_settings_are_refused() {
        for (yaml, part) in [
            ("runners: {.rb: ruby}", "`ruby` is not a runtime"),
            ("runs_at_once: 0", "scripts.runs_at_once is 0"),
            ("timeout_seconds: 18446744073709551615", "must be from 1 to 86400"),
        ] {
            let message = scripts(yaml).unwrap_err();
            assert!(message.contains(part), "{yaml}: {message}");
        }
    }

    #[test]
    fn invalid_grants_are_refused() {
        for (yaml, part) in [
            ("/a: {s: {read: [project]}}", "`project` must begin with"),
            ("/a: {s: {env: [SKILL_DIR]}}", "not a variable that can be granted"),
            ("/a: {s: {env: [HOME]}}", "not a variable that can be granted"),
            ("/a: {s: {hosts: ['*']}}", "`*` is not a host"),
            ("/a: {s: {digest: abc}}", "`abc` is not a digest"),
        ] {
            let message =
                grants(serde_yaml::from_str(yaml).unwrap(), PathBuf::new(), |text| PathBuf::from(text)).unwrap_err();
            assert!(message.contains(part) && message.contains("grants, /a, s"), "{yaml}: {message}");
        }
    }
}
