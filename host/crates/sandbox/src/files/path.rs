//! Paths in the guest's tree, normalized as text so that they cannot escape.

use super::FileError;

/// As on Linux.
const MAX_PATH_LENGTH: usize = 4096;
const MAX_NAME_LENGTH: usize = 255;

/// A path in the guest's tree: names joined by `/`, without `.`, `..` and empty names. The root is empty.
///
/// A `..` removes the name before it as text, so its meaning does not depend on links, and it never leads above the folder
/// from which it is resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GuestPath(String);

/// A resolved path of the guest.
#[derive(Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    pub path: GuestPath,
    /// Whether the path ends in `/`, `.` or `..`, so that it can only mean a folder.
    pub folder_only: bool,
}

impl GuestPath {
    /// A path of the host's own, which is normalized.
    pub(crate) fn fixed(path: &'static str) -> Self {
        Self(path.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Resolves `text` relative to this folder. The result is this folder or below it.
    pub fn join(&self, text: &str) -> Result<ResolvedPath, FileError> {
        match text {
            "" => return Err(FileError::NotFound),
            _ if text.contains('\0') => return Err(FileError::BadPath),
            _ if text.len() > MAX_PATH_LENGTH => return Err(FileError::LongName),
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
                _ if name.len() > MAX_NAME_LENGTH => return Err(FileError::LongName),
                _ => {
                    if !path.is_empty() {
                        path.push('/');
                    }
                    path.push_str(name);
                }
            }
        }
        if path.len() > MAX_PATH_LENGTH {
            return Err(FileError::LongName);
        }
        Ok(ResolvedPath { path: Self(path), folder_only: matches!(last, "" | "." | "..") })
    }
}

/// Returns the rest of a normalized path relative to a folder; empty for the folder itself.
pub fn below<'path>(path: &'path str, folder: &str) -> Option<&'path str> {
    match folder {
        "" => Some(path),
        _ if path == folder => Some(""),
        _ => path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')),
    }
}

/// Returns the names in a normalized path.
pub fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// Splits the last name off a normalized path, to change that entry. The top of a volume has none and stays.
pub fn split_name(path: &str) -> Result<(&str, &str), FileError> {
    let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
    if name.is_empty() { Err(FileError::Busy) } else { Ok((parents, name)) }
}

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
    fn paths_are_normalized() {
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
            assert_eq!(at(from).join(text), Ok(ResolvedPath { path: at(expected), folder_only }), "{from} + {text}");
        }
    }

    #[test]
    fn escaping_and_invalid_paths_are_refused() {
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
    fn a_folder_is_not_a_prefix_of_a_name() {
        assert_eq!(below("skill/a", "skill"), Some("a"));
        assert_eq!(below("skill", "skill"), Some(""));
        assert_eq!(below("skills", "skill"), None);
        assert_eq!(below("a/b", ""), Some("a/b"));
    }

    proptest! {
        /// Whatever a guest writes, the result is below the folder, and no name could escape on disk.
        #[test]
        fn no_path_leaves_its_folder(from in "(a|skill|b/c)?", text in "([./a-c\\\\\0é]|\\.\\.|//){0,12}") {
            if let Ok(resolved) = at(&from).join(&text) {
                prop_assert!(below(resolved.path.as_str(), &from).is_some());
                let names: Vec<&str> = resolved.path.as_str().split('/').collect();
                prop_assert!(resolved.path.as_str().is_empty() || names.iter().all(|name| !matches!(*name, "" | "." | "..")));
                prop_assert!(!resolved.path.as_str().contains('\0'));
            }
        }
    }
}
