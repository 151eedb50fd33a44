//! What a caller hands to a script: arguments, standard input and files.

use bytes::Bytes;
use sandbox::files::path::GuestPath;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

pub const MAX_ARGV: usize = 256;
pub const MAX_ARGV_BYTES: usize = 128 << 10;
pub const MAX_STDIN_BYTES: usize = 1 << 20;
pub const MAX_FILES: usize = 16;
pub const MAX_FILE_BYTES: usize = 1 << 20;
pub const MAX_FILES_BYTES: usize = 4 << 20;

/// Everything a caller hands to a script.
#[derive(Debug, Clone, Default)]
pub struct Input {
    /// Arguments by name, which the script sees as variables `SKILL_ARG_…`.
    pub named: BTreeMap<String, String>,
    /// Arguments by position, as on a command line.
    pub argv: Vec<String>,
    pub stdin: Bytes,
    pub files: Vec<InputFile>,
}

/// A file that the script finds in its working folder.
#[derive(Debug, Clone)]
pub struct InputFile {
    pub path: String,
    pub bytes: Bytes,
}

/// Why input is refused.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    #[error("{argument} has {given} {unit}, and the limit is {limit}")]
    TooMuch { argument: String, given: usize, limit: usize, unit: &'static str },
    #[error("argv[{0}] contains a NUL character\nhint: remove it")]
    Nul(usize),
    #[error(
        "files[{index}].path is `{}`, which is not a relative path inside the working folder\nhint: use a path such as `data/in.csv`, without `..`, a leading `/` or control characters",
        path.escape_debug()
    )]
    Path { index: usize, path: String },
    #[error(
        "files[{index}].path is `{}`, which collides with another file of the call\nhint: give each file a path of its own",
        path.escape_debug()
    )]
    Collision { index: usize, path: String },
    #[error(
        "files[{index}].path is `{}`, which the skill already has\nhint: choose another path, and name that in `argv`",
        path.escape_debug()
    )]
    OfSkill { index: usize, path: String },
}

impl InputError {
    /// Whether a number is out of range, rather than a value refused.
    pub fn is_out_of_range(&self) -> bool {
        matches!(self, Self::TooMuch { .. })
    }
}

impl Input {
    /// Checks sizes and paths, and normalizes the paths.
    pub fn check(&mut self) -> Result<(), InputError> {
        at_most("argv", self.argv.len(), MAX_ARGV, "items")?;
        at_most("argv", self.argv.iter().map(|text| text.len() + 1).sum(), MAX_ARGV_BYTES, "bytes")?;
        if let Some(index) = self.argv.iter().position(|text| text.contains('\0')) {
            return Err(InputError::Nul(index));
        }
        at_most("stdin", self.stdin.len(), MAX_STDIN_BYTES, "bytes")?;
        at_most("files", self.files.len(), MAX_FILES, "items")?;
        for (index, file) in self.files.iter().enumerate() {
            at_most(&format!("files[{index}]"), file.bytes.len(), MAX_FILE_BYTES, "bytes")?;
        }
        at_most("files", self.files.iter().map(|file| file.bytes.len()).sum(), MAX_FILES_BYTES, "bytes")?;
        let mut taken: BTreeSet<String> = BTreeSet::new();
        for (index, file) in self.files.iter_mut().enumerate() {
            let path = normalized(&file.path).ok_or_else(|| InputError::Path { index, path: file.path.clone() })?;
            let is_above = |taken: &String| taken.starts_with(&format!("{path}/"));
            let is_below = path.match_indices('/').any(|(end, _)| taken.contains(&path[..end]));
            if taken.contains(&path) || is_below || taken.iter().any(is_above) {
                return Err(InputError::Collision { index, path: file.path.clone() });
            }
            taken.insert(path.clone());
            file.path = path;
        }
        Ok(())
    }

    /// Bytes of standard input and files, which a waiting request holds.
    pub fn bytes(&self) -> usize {
        self.stdin.len() + self.files.iter().map(|file| file.bytes.len()).sum::<usize>()
    }

    /// Replaces real paths below the working folder with those that the script sees.
    pub fn translate_paths(&mut self, working_folder: &Path) {
        let canonical = working_folder.canonicalize().ok();
        let folders: Vec<&str> =
            [Some(working_folder), canonical.as_deref()].into_iter().flatten().filter_map(Path::to_str).collect();
        for text in self.argv.iter_mut().chain(self.named.values_mut()) {
            if let Some(translated) = folders.iter().find_map(|folder| translated(text, folder)) {
                *text = translated;
            }
        }
    }
}

fn at_most(argument: &str, given: usize, limit: usize, unit: &'static str) -> Result<(), InputError> {
    if given <= limit {
        return Ok(());
    }
    Err(InputError::TooMuch { argument: argument.to_owned(), given, limit, unit })
}

/// Returns a relative path without `.` and empty segments. `None` if it leaves its folder, or is not a plain path.
fn normalized(path: &str) -> Option<String> {
    let is_windows = path.contains('\\') || path.as_bytes().get(1) == Some(&b':');
    let climbs = path.split('/').any(|name| name == "..");
    let is_folder = path.ends_with('/') || path.ends_with("/.");
    if is_windows || climbs || is_folder || path.chars().any(char::is_control) {
        return None;
    }
    let path = GuestPath::default().join(path).ok()?.path;
    (!path.as_str().is_empty()).then(|| path.as_str().to_owned())
}

/// Translates a path, or the value of an option such as `--out=PATH`, if it names `folder` or something below it.
fn translated(text: &str, folder: &str) -> Option<String> {
    let folder = folder.trim_end_matches('/');
    let below = |path: &str| {
        path.strip_prefix(folder)
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
            .map(|rest| format!("/work{rest}"))
    };
    below(text).or_else(|| {
        let (option, value) = text.split_once('=').filter(|(option, _)| option.starts_with('-'))?;
        Some(format!("{option}={}", below(value)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_files(paths: &[&str]) -> Input {
        let file = |path: &&str| InputFile { path: (*path).to_owned(), bytes: Bytes::new() };
        Input { files: paths.iter().map(file).collect(), ..Input::default() }
    }

    #[test]
    fn paths_of_files_are_relative_and_do_not_climb() {
        for path in [
            "",
            ".",
            "/",
            "/etc/passwd",
            "..",
            "../a",
            "a/../../b",
            "a/../b",
            "a/",
            "a/.",
            "C:\\a",
            "c:/a",
            "a\\b",
            "a\0b",
            "a\nb",
            &"x".repeat(256),
            &"x/".repeat(3000),
        ] {
            assert!(with_files(&[path]).check().is_err(), "{path:?}");
        }
        let mut input = with_files(&["./a//b.csv", "dev/null", "~/x", "é"]);
        input.check().unwrap();
        let paths: Vec<&str> = input.files.iter().map(|file| &*file.path).collect();
        assert_eq!(paths, ["a/b.csv", "dev/null", "~/x", "é"]);
    }

    #[test]
    fn files_that_collide_are_refused() {
        for paths in [["a", "./a"], ["a", "a/b"], ["a/b", "a"], ["a/b/c", "a/b"]] {
            assert!(matches!(with_files(&paths).check(), Err(InputError::Collision { index: 1, .. })), "{paths:?}");
        }
        with_files(&["a", "ab", "b/a", "b/ab"]).check().unwrap();
    }

    #[test]
    fn every_size_has_a_limit() {
        let argv = |argv: Vec<String>| Input { argv, ..Input::default() };
        let file = |size: usize| InputFile { path: size.to_string(), bytes: vec![0; size].into() };
        let files = |files: Vec<InputFile>| Input { files, ..Input::default() };
        argv(vec!["a".to_owned(); MAX_ARGV]).check().unwrap();
        argv(vec!["a".repeat(MAX_ARGV_BYTES - 1)]).check().unwrap();
        files(vec![file(MAX_FILE_BYTES)]).check().unwrap();
        for mut input in [
            argv(vec![String::new(); MAX_ARGV + 1]),
            argv(vec![String::new(); 100_000]),
            argv(vec!["a".repeat(MAX_ARGV_BYTES)]),
            Input { stdin: vec![0; MAX_STDIN_BYTES + 1].into(), ..Input::default() },
            files(vec![file(MAX_FILE_BYTES + 1)]),
            files((0..5).map(|less| file(MAX_FILE_BYTES - less)).collect()),
            files((0..=MAX_FILES).map(file).collect()),
        ] {
            assert!(input.check().unwrap_err().is_out_of_range());
        }
        assert!(matches!(argv(vec!["a".to_owned(), "b\0".to_owned()]).check(), Err(InputError::Nul(1))));
    }

    #[test]
    fn real_paths_below_the_working_folder_are_translated() {
        for (text, expected) in [
            ("/home/me/project", "/work"),
            ("/home/me/project/", "/work/"),
            ("/home/me/project/a b", "/work/a b"),
            ("--out=/home/me/project/a", "--out=/work/a"),
            ("/home/me/projects", "/home/me/projects"),
            ("x=/home/me/project/a", "x=/home/me/project/a"),
            ("see /home/me/project/a", "see /home/me/project/a"),
        ] {
            let named = BTreeMap::from([("a".to_owned(), text.to_owned())]);
            let mut input = Input { argv: vec![text.to_owned()], named, ..Input::default() };
            input.translate_paths(Path::new("/home/me/project"));
            assert_eq!((&*input.argv[0], &*input.named["a"]), (expected, expected));
        }
    }
}
