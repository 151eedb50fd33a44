//! Places in the guest's tree, as text that cannot climb.

use super::FileError;

/// Longest path and longest name in it, in bytes, as on Linux.
const LONGEST_PATH: usize = 4096;
const LONGEST_NAME: usize = 255;

/// A place in the tree that a guest sees: names joined by `/`, without `.`, `..` and empty names. The top is empty.
///
/// A `..` takes back the name before it as text, so it never depends on a link and never leads above the folder it
/// started from.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GuestPath(String);

/// Where a path of the guest leads.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    pub path: GuestPath,
    /// The path ends in `/` or `.`, so it can only mean a folder.
    pub folder_only: bool,
}

impl GuestPath {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The place that `text` means to someone who holds this folder. It is this folder or below it.
    pub fn join(&self, text: &str) -> Result<Target, FileError> {
        match text {
            "" => return Err(FileError::NotFound),
            _ if text.contains('\0') => return Err(FileError::BadPath),
            _ if text.len() > LONGEST_PATH => return Err(FileError::LongName),
            _ if text.starts_with('/') => return Err(FileError::Escapes),
            _ => {}
        }
        let mut path = self.0.clone();
        let mut last = "";
        for name in text.split('/') {
            last = name;
            match name {
                "" | "." => {}
                ".." if path.len() == self.0.len() => return Err(FileError::Escapes),
                ".." => path.truncate(path.rfind('/').unwrap_or(0).max(self.0.len())),
                _ if name.len() > LONGEST_NAME => return Err(FileError::LongName),
                _ => {
                    if !path.is_empty() {
                        path.push('/');
                    }
                    path.push_str(name);
                }
            }
        }
        if path.len() > LONGEST_PATH {
            return Err(FileError::LongName);
        }
        Ok(Target { path: Self(path), folder_only: matches!(last, "" | "." | "..") })
    }

    /// The rest of this path below a folder of the tree; empty for the folder itself.
    pub fn below(&self, folder: &str) -> Option<&str> {
        below(&self.0, folder)
    }
}

/// The rest of a plain path below a folder; empty for the folder itself.
pub fn below<'path>(path: &'path str, folder: &str) -> Option<&'path str> {
    match folder {
        "" => Some(path),
        _ if path == folder => Some(""),
        _ => path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')),
    }
}

/// As a script writes it, from the top.
impl std::fmt::Display for GuestPath {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "/{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> GuestPath {
        GuestPath(text.to_owned())
    }

    #[test]
    fn paths_are_made_plain() {
        for (from, text, expected, folder_only) in [
            ("", "skill", "skill", false),
            ("", "skill/", "skill", true),
            ("", "./skill//a/./b", "skill/a/b", false),
            ("", "skill/../tmp/x", "tmp/x", false),
            ("", ".", "", true),
            ("", "a/..", "", true),
            ("skill", "a/../b", "skill/b", false),
            ("skill", "a/b/../..", "skill", true),
            ("skill/é", "ü", "skill/é/ü", false),
            ("skill", "..a", "skill/..a", false),
        ] {
            assert_eq!(at(from).join(text), Ok(Target { path: at(expected), folder_only }), "{from} + {text}");
        }
    }

    #[test]
    fn paths_that_climb_or_are_no_paths_are_refused() {
        for (from, text, error) in [
            ("", "", FileError::NotFound),
            ("", "..", FileError::Escapes),
            ("", "a/../..", FileError::Escapes),
            ("skill", "../tmp", FileError::Escapes),
            ("skill", "../skill/a", FileError::Escapes),
            ("skill", "/etc/passwd", FileError::Escapes),
            ("", "a\0b", FileError::BadPath),
        ] {
            assert_eq!(at(from).join(text), Err(error), "{from} + {text}");
        }
        assert_eq!(at("").join(&"x".repeat(256)), Err(FileError::LongName));
        assert_eq!(at("").join(&"x/".repeat(2049)), Err(FileError::LongName));
    }

    #[test]
    fn a_folder_is_not_the_beginning_of_a_name() {
        assert_eq!(at("skill/a").below("skill"), Some("a"));
        assert_eq!(at("skill").below("skill"), Some(""));
        assert_eq!(at("skills").below("skill"), None);
        assert_eq!(at("a/b").below(""), Some("a/b"));
    }

    proptest! {
        /// Whatever a guest writes, it stays below the folder it holds, and no name could climb on disk.
        #[test]
        fn no_path_leaves_its_folder(from in "(a|skill|b/c)?", text in "([./a-c\\\\\0é]|\\.\\.|//){0,12}") {
            if let Ok(target) = at(&from).join(&text) {
                prop_assert!(target.path.below(&from).is_some());
                let names: Vec<&str> = target.path.as_str().split('/').collect();
                prop_assert!(target.path.as_str().is_empty() || names.iter().all(|name| !matches!(*name, "" | "." | "..")));
                prop_assert!(!target.path.as_str().contains('\0'));
            }
        }
    }
}
