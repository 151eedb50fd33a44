//! Paths below a root: `/` between segments, no leading one; the root itself is the empty string.

/// Returns the folder of a path, or `None` for the root itself.
pub fn folder_of(path: &str) -> Option<&str> {
    match path.rfind('/') {
        Some(slash) => Some(&path[..slash]),
        None if path.is_empty() => None,
        None => Some(""),
    }
}

pub fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Removes `.md` from a path.
pub fn without_extension(file: &str) -> &str {
    file.strip_suffix(".md").unwrap_or(file)
}

/// Normalizes an untrusted relative path. Rejects absolute paths, `..`, drive letters and NUL.
///
/// A backslash separates folders on Windows, so `..` and absolute paths written with it are rejected everywhere.
pub fn clean(path: &str) -> Option<String> {
    let climbs = path.split(['/', '\\']).any(|segment| segment == "..");
    if climbs || path.starts_with('/') || path.contains('\0') {
        return None;
    }
    let segments: Vec<&str> = path.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
    // The first that is left, because a `.` may precede it.
    let first = segments.first()?.as_bytes();
    let drive = first.get(1) == Some(&b':') && first[0].is_ascii_alphabetic();
    (!drive && first[0] != b'\\').then(|| segments.join("/"))
}

/// Whether any segment is hidden, so that the file is not served.
pub fn is_hidden(path: &str) -> bool {
    path.split('/').any(|segment| segment.starts_with('.'))
}

/// Whether the path means the same on every system. Other paths are not served unless declared.
pub fn is_portable(path: &str) -> bool {
    path.split('/').all(|segment| !segment.contains('\\') && segment.as_bytes().get(1) != Some(&b':'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parent_and_absolute_paths_are_rejected() {
        for path in [
            "..", "../a", "a/../b", "a/..", "/a", "\\a", "a\\..\\b", "C:/a", "c:\\a", "c:a", "./c:a", ".//\\a", "a\0b",
            "", ".", "./",
        ] {
            assert_eq!(clean(path), None, "{path:?}");
        }
    }

    #[test]
    fn ordinary_paths_are_kept() {
        assert_eq!(clean("a/b.md").as_deref(), Some("a/b.md"));
        assert_eq!(clean("./a//b").as_deref(), Some("a/b"));
        assert_eq!(clean("..a/b..").as_deref(), Some("..a/b.."));
        assert_eq!(clean("été/文.md").as_deref(), Some("été/文.md"));
    }

    proptest! {
        #[test]
        fn a_clean_path_has_no_parent_segments(path in "\\PC*") {
            if let Some(clean) = clean(&path) {
                prop_assert!(!clean.starts_with('/'));
                prop_assert!(clean.split('/').all(|segment| !segment.is_empty() && segment != "." && segment != ".."));
            }
        }

        #[test]
        fn folder_and_last_segment_rebuild_the_path(segments in prop::collection::vec("[^/\0]{1,8}", 1..6)) {
            let path = segments.join("/");
            prop_assert_eq!(join(folder_of(&path).unwrap(), last_segment(&path)), path);
        }
    }
}
