//! What a script asked for and did not get.

use crate::digest::DigestError;
use base::digest::Sha256;
use base::place::{Audience, Place};
use sandbox::hosts::{HostPattern, InvalidHost};

/// A part of a request that is not granted.
#[derive(Debug)]
pub enum Refusal {
    NotGranted { script: ScriptId, wish: Wish, file: Place },
    NeverGranted { script: String, wish: String, reason: &'static str },
    NoSuchWorkingFolder { place: Place },
    NoWorkingFolder { script: String, paths: Vec<String> },
    InvalidHost { script: String, error: InvalidHost },
    Changed { skill_path: String, digest: Sha256, file: Place },
    NoDigest { skill_path: String, reason: DigestError, file: Place },
}

/// The script that asks, and the key of its grant.
#[derive(Debug, Clone)]
pub struct ScriptId {
    pub root: Place,
    pub skill_path: String,
    pub script: String,
}

/// What a grant would allow.
#[derive(Debug)]
pub enum Wish {
    Read(Place),
    Write(Place),
    Variable(String),
    Host(HostPattern),
}

impl Refusal {
    /// The hint has the exact lines to add to the operator's file, apart from the names of places for remote clients.
    pub fn for_audience(&self, audience: Audience) -> String {
        match self {
            Self::NotGranted { script: ScriptId { root, skill_path, script }, wish, file } => {
                let (action, key, value) = wish.describe(audience);
                let (root, skill_path) = (scalar(&root.for_audience(audience)), scalar(skill_path));
                format!(
                    "script `{script}` wants to {action}, and no grant covers it\nhint: add to {}:\ngrants:\n  {root}:\n    {skill_path}:\n      {key}: [{}]",
                    file.for_audience(audience),
                    scalar(&value)
                )
            }
            Self::NeverGranted { script, wish, reason } => {
                format!("script `{script}` asks for `{}`, which cannot be granted: {reason}", wish.escape_debug())
            }
            Self::NoSuchWorkingFolder { place } => format!(
                "`cwd` is `{}`, which is not a folder\nhint: give the absolute path of a folder",
                place.for_audience(audience).escape_debug()
            ),
            Self::NoWorkingFolder { script, paths } => format!(
                "script `{script}` wants to use `{}` in the working folder, and none was given\nhint: call it with `cwd`",
                paths.join("`, `").escape_debug()
            ),
            Self::InvalidHost { script, error } => format!("script `{script}` asks for an invalid host: {error}"),
            Self::Changed { skill_path, digest, file } => format!(
                "the grant for `{skill_path}` is void: the skill changed since it was pinned\nhint: review it, then write `digest: {digest}` in {}",
                file.for_audience(audience)
            ),
            Self::NoDigest { skill_path, reason, file } => format!(
                "the grant for `{skill_path}` is void: its digest cannot be computed, because {reason}\nhint: make the skill smaller, or remove `digest` from the grant in {}",
                file.for_audience(audience)
            ),
        }
    }
}

impl Wish {
    /// Returns the action, and the key and value that grant it.
    fn describe(&self, audience: Audience) -> (String, &'static str, String) {
        let path = |place: &Place| place.for_audience(audience).into_owned();
        match self {
            Self::Read(place) => (format!("read `{}`", path(place)), "read", path(place)),
            Self::Write(place) => (format!("write `{}`", path(place)), "write", path(place)),
            Self::Variable(name) => (format!("read the variable `{}`", name.escape_debug()), "env", name.clone()),
            Self::Host(host) => (format!("connect to `{host}`"), "hosts", host.to_string()),
        }
    }
}

/// Quotes a value for YAML if necessary.
fn scalar(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-');
    let starts_well = text.starts_with(|letter: char| letter.is_alphabetic() || matches!(letter, '/' | '_' | '.'));
    // A JSON string is valid YAML.
    if starts_well && text.chars().all(plain) { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_shows_the_lines_to_add() {
        let refusal = Refusal::NotGranted {
            script: ScriptId {
                root: Place::new("/team/skills", "root skills"),
                skill_path: "release/tag".to_owned(),
                script: "scripts/tag.py".to_owned(),
            },
            wish: Wish::Read(Place::new("/home/me/project", "~/project")),
            file: Place::new("/home/me/config.yaml", "the operator's file"),
        };
        assert_eq!(
            refusal.for_audience(Audience::Local),
            "script `scripts/tag.py` wants to read `/home/me/project`, and no grant covers it\n\
             hint: add to /home/me/config.yaml:\n\
             grants:\n  /team/skills:\n    release/tag:\n      read: [/home/me/project]"
        );
        assert_eq!(
            refusal.for_audience(Audience::Remote),
            "script `scripts/tag.py` wants to read `~/project`, and no grant covers it\n\
             hint: add to the operator's file:\n\
             grants:\n  \"root skills\":\n    release/tag:\n      read: [\"~/project\"]"
        );
    }

    #[test]
    fn values_are_quoted_when_yaml_requires_it() {
        assert_eq!(scalar("/a b"), "\"/a b\"");
        assert_eq!(scalar("*.example.com"), "\"*.example.com\"");
        assert_eq!(scalar("a: b"), "\"a: b\"");
        assert_eq!(scalar("release/tag"), "release/tag");
    }
}
