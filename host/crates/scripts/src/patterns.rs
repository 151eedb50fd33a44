//! Patterns of output files: `*` and `?` within a name, `**` for any folders.

use std::fmt;

/// Of one call.
pub const MAX_PATTERNS: usize = 64;

/// In bytes, of one pattern.
const MAX_LENGTH: usize = 1_024;

/// A pattern of paths, relative to the working folder or absolute. One that names a folder matches everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    names: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a pattern of output files\nhint: use a path such as `out/report.md`, `out/**` or `/tmp/*.png`", .0.escape_debug())]
pub struct InvalidPattern(String);

impl Pattern {
    pub fn new(text: &str) -> Result<Self, InvalidPattern> {
        let plain = text.strip_prefix("/work/").unwrap_or(text);
        let names: Vec<String> =
            plain.split('/').filter(|name| !matches!(*name, "" | ".")).map(str::to_owned).collect();
        if names.is_empty() || text.len() > MAX_LENGTH || text.contains('\0') || names.iter().any(|name| name == "..") {
            return Err(InvalidPattern(text.to_owned()));
        }
        let root = plain.starts_with('/').then(|| "/".to_owned());
        Ok(Self { text: text.to_owned(), names: root.into_iter().chain(names).collect() })
    }

    /// Whether a path, relative to the working folder or absolute, matches.
    pub fn matches(&self, path: &str) -> bool {
        let root = path.starts_with('/').then_some("/");
        let names: Vec<&str> = root.into_iter().chain(path.split('/').filter(|name| !name.is_empty())).collect();
        // `**` does not stand for the root.
        let is_absolute = self.names.first().is_some_and(|first| first == "/");
        is_absolute == root.is_some() && matches_names(&self.names, &names)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Compares name by name, and returns to the last `**` after a mismatch. Once the pattern is used up, what is left of the path is
/// below the folder it names.
fn matches_names(pattern: &[String], names: &[&str]) -> bool {
    let (mut at, mut name, mut retry) = (0, 0, None);
    loop {
        match pattern.get(at) {
            None => return true,
            Some(part) if part == "**" => {
                retry = Some((at, name));
                at += 1;
                if at == pattern.len() {
                    return name < names.len();
                }
            }
            Some(part) if names.get(name).is_some_and(|name| matches_name(part, name)) => {
                (at, name) = (at + 1, name + 1);
            }
            Some(_) => match retry {
                Some((star, from)) if from < names.len() => {
                    retry = Some((star, from + 1));
                    (at, name) = (star + 1, from + 1);
                }
                _ => return false,
            },
        }
    }
}

/// The same within a name, where `*` stands for any characters.
fn matches_name(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut letter, mut retry) = (0, 0, None);
    loop {
        match (pattern.get(at), name.get(letter)) {
            (Some('*'), _) => {
                retry = Some((at, letter));
                at += 1;
            }
            (Some(wanted), Some(given)) if *wanted == '?' || wanted == given => (at, letter) = (at + 1, letter + 1),
            (None, None) => return true,
            _ => match retry {
                Some((star, from)) if from < name.len() => {
                    retry = Some((star, from + 1));
                    (at, letter) = (star + 1, from + 1);
                }
                _ => return false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, matching, other) in [
            ("out.md", &["out.md"][..], &["out.mdx", "a/out.md", "/tmp/out.md"][..]),
            ("out", &["out", "out/a", "out/a/b"], &["outside", "a/out"]),
            ("out/**", &["out/a", "out/a/b"], &["out", "other/a"]),
            ("*.md", &["a.md", ".md"], &["a/b.md", "a.mdx"]),
            ("**/*.md", &["a.md", "a/b.md", "a/b/c.md"], &["a.txt", "/tmp/a.md"]),
            ("**", &["a", "a/b"], &["/tmp/a"]),
            ("a/**/b/?.txt", &["a/b/c.txt", "a/x/y/b/c.txt"], &["a/b/cd.txt", "b/c.txt"]),
            ("/tmp/*.png", &["/tmp/a.png"], &["tmp/a.png", "/tmp/a/b.png"]),
            ("/skill/**", &["/skill/a/b"], &["skill/a"]),
            ("/work/a", &["a"], &["/work/a"]),
            ("./a//b", &["a/b"], &["a"]),
        ] {
            let compiled = Pattern::new(pattern).unwrap();
            for path in matching {
                assert!(compiled.matches(path), "{pattern} {path}");
            }
            for path in other {
                assert!(!compiled.matches(path), "{pattern} {path}");
            }
        }
        for invalid in ["", "/", ".", "..", "a/../b", "a\0", &"a".repeat(1_025)] {
            assert!(Pattern::new(invalid).is_err(), "{invalid:?}");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_little_time() {
        let pattern = Pattern::new(&["**", "a"].repeat(170).join("/")).unwrap();
        assert!(!pattern.matches(&["a"].repeat(1_000).join("/").replace('a', "b")));
        assert!(!Pattern::new(&"*a".repeat(500)).unwrap().matches(&"b".repeat(255)));
    }
}
