//! Places of this machine in messages: its user sees paths, remote clients see names.
//!
//! A message that can name a place does not implement `Display`. It has a method `for_audience` instead, so it cannot become
//! a text without deciding who reads it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Who reads a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The user of this machine: over stdio, on the command line, in the log and in the audit record.
    Local,
    /// A client over HTTP, which may be anywhere.
    Remote,
}

/// A file or folder of this machine, and its name for remote clients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    name: String,
}

impl Place {
    pub fn new(path: impl Into<PathBuf>, name: impl Into<String>) -> Self {
        Self { path: path.into(), name: name.into() }
    }

    /// Names a file by the last part of its path.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        Self { name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(), path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a place inside this one, or itself for an empty path.
    pub fn join(&self, below: impl AsRef<Path>) -> Self {
        let below = below.as_ref();
        if below.as_os_str().is_empty() {
            return self.clone();
        }
        Self { path: self.path.join(below), name: format!("{}/{}", self.name, below.display()) }
    }

    pub fn for_audience(&self, audience: Audience) -> Cow<'_, str> {
        match audience {
            Audience::Local => self.path.to_string_lossy(),
            Audience::Remote => (&self.name).into(),
        }
    }
}

/// A reason that may contain paths, such as the error message of a library. It has to be logged, because remote clients are
/// referred to the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalReason(pub String);

impl LocalReason {
    pub fn for_audience(&self, audience: Audience) -> &str {
        match audience {
            Audience::Local => &self.0,
            Audience::Remote => "the server's log says why",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_clients_see_names() {
        let home = Place::new("/home/me", "~");
        for (place, local, remote) in [
            (home.join("project/src"), "/home/me/project/src", "~/project/src"),
            (home.join(""), "/home/me", "~"),
            (Place::file("/opt/secret/odd.wasm"), "/opt/secret/odd.wasm", "odd.wasm"),
        ] {
            assert_eq!(place.for_audience(Audience::Local), local);
            assert_eq!(place.for_audience(Audience::Remote), remote);
        }
        assert!(!LocalReason("/home/me is full".to_owned()).for_audience(Audience::Remote).contains("/home"));
    }
}
