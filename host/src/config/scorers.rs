//! Resolves which scorer ranks skills, and which others the operator installed.

use super::file::{RawInstalledScorer, RawScorer, TextOr, UniqueMap};
use base::digest::Sha256;
use base::printable::printable;
use catalog::scorers::options::{InstalledScorers, ScorerChoice, ScorerFile, is_path};
use mcp::surface::Surface;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub fn installed(
    raw: UniqueMap<TextOr<RawInstalledScorer>>,
    path: impl Fn(&str) -> PathBuf,
) -> Result<InstalledScorers, String> {
    let mut installed = BTreeMap::new();
    for (name, entry) in raw.0 {
        let (file, sha256) = match entry {
            TextOr::Text(file) => (file, None),
            TextOr::Map(RawInstalledScorer { file, sha256 }) => (file, sha256),
        };
        if ScorerChoice::called(&name).is_some() {
            return Err(format!("scorers.{name} has the name of a built-in scorer\nhint: choose another name"));
        }
        if name.trim().is_empty() || is_path(&name) {
            let name = printable(&name);
            return Err(format!(
                "scorers: `{name}` is not a valid name\nhint: use a name that is not a path, as in `mine: ~/mine.wasm`"
            ));
        }
        if file.trim().is_empty() {
            return Err(format!("scorers.{name} has no file\nhint: write the path of a component"));
        }
        let sha256 = sha256.map(|text| digest(&format!("scorers.{name}"), &text)).transpose()?;
        installed.insert(name, ScorerFile { path: path(&file), sha256 });
    }
    Ok(InstalledScorers(installed))
}

/// Resolves `matching.scorer`.
pub fn chosen(
    raw: Option<TextOr<RawScorer>>,
    surface: &Surface,
    installed: &InstalledScorers,
    path: impl Fn(&str) -> PathBuf,
) -> Result<ScorerChoice, String> {
    let invalid = |reason: &str| format!("matching.scorer {reason}");
    let RawScorer { name, file, sha256 } = match raw {
        None if surface.ranks_by_keywords => return Ok(ScorerChoice::Keyword),
        None => return Ok(ScorerChoice::default()),
        Some(TextOr::Text(text)) => return installed.choose(&text, path).map_err(|error| invalid(&error)),
        Some(TextOr::Map(map)) => map,
    };
    let choice = match (name, file) {
        (Some(name), None) => installed.choose(&name, path).map_err(|error| invalid(&error))?,
        (None, Some(file)) => ScorerChoice::Component(ScorerFile { path: path(&file), sha256: None }),
        _ => {
            return Err(invalid(
                "must have either `name` or `file`\nhint: write `scorer: hybrid`, or `scorer: {file: PATH, sha256: DIGEST}`",
            ));
        }
    };
    let pinned = sha256.map(|text| digest("matching.scorer", &text)).transpose()?;
    match (choice, pinned) {
        (choice, None) => Ok(choice),
        (ScorerChoice::Component(file), Some(pinned)) if file.sha256.is_none_or(|other| other == pinned) => {
            Ok(ScorerChoice::Component(ScorerFile { sha256: Some(pinned), ..file }))
        }
        (ScorerChoice::Component(_), Some(_)) => {
            Err(invalid("pins a different digest than `scorers`\nhint: keep one of the two"))
        }
        (_, Some(_)) => Err(invalid("pins a built-in scorer\nhint: remove `sha256`")),
    }
}

/// Parses a digest, with or without the prefix `sha256:`.
pub fn digest(key: &str, text: &str) -> Result<Sha256, String> {
    let digits = text.trim().trim_start_matches("sha256:").to_ascii_lowercase();
    format!("sha256:{digits}").parse().map_err(|_| {
        format!(
            "{key} pins `{}`, which is not a SHA-256 digest\nhint: write the 64 digits that `sha256sum` prints",
            printable(text)
        )
    })
}
