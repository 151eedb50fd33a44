//! What a script may not change even in a writable folder: whatever agents, editors, shells, git and CI services act on
//! without being told to. Opening the folder, starting an agent there, `git status` or a push would run or obey what the
//! script wrote.
//!
//! Protected are names ([`is_protected`]), places that the host knows to matter ([`ProtectedPlace`]), and folders that git takes
//! for a repository. A grant that names one lifts its protection. No rule depends on the order of steps or on what runs at the same time: a guest
//! cannot create, move or remove anything protected, so the next check finds it where it was.

use super::FileError;
use super::disk::from_errno;
use super::path::names;
use icu_normalizer::DecomposingNormalizerBorrowed;
use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;
use rustix::fs::{AtFlags, Dev, FileType, Mode, OFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Protected names besides the hidden ones. Hidden names are all protected: tools keep settings there, and new tools appear
/// faster than a list grows.
///
/// The code of a project is not protected, nor what builds and tests it: to write it is what a grant is for.
pub const PROTECTED: [&str; 37] = [
    // Instructions that agents read at startup.
    "AGENT.md",
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "copilot-instructions.md",
    "CRUSH.md",
    "GEMINI.md",
    "QWEN.md",
    "WARP.md",
    // Settings of agents and editors, which name programs to start.
    "crush.json",
    "mcp.json",
    "opencode.json",
    "opencode.jsonc",
    "*.code-workspace",
    // Skills, which agents follow and servers offer.
    "skills",
    "SKILL.md",
    // Read by shells on entering the folder: by mise, and by direnv if its `.envrc` says so.
    "devbox.json",
    "devenv.nix",
    "flake.nix",
    "mise.local.toml",
    "mise.toml",
    "shell.nix",
    // Run by hooks of git.
    "lefthook.json",
    "lefthook.toml",
    "lefthook.yaml",
    "lefthook.yml",
    "lefthook-local.yml",
    // Run by CI services.
    "appveyor.yml",
    "azure-pipelines.yml",
    "azure-pipelines.yaml",
    "bitbucket-pipelines.yml",
    "buildspec.yml",
    "cloudbuild.yaml",
    "codemagic.yaml",
    "Jenkinsfile",
    // The repository of darcs, with its hooks. That of others is hidden.
    "_darcs",
];

/// A folder, whatever its path: the same device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FolderId(Dev, u64);

impl FolderId {
    pub fn of(folder: impl AsFd) -> Option<Self> {
        rustix::fs::fstat(folder).ok().map(|stat| Self(stat.st_dev, stat.st_ino))
    }
}

/// A file or folder that is protected whatever it is called, and whether it exists yet or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProtectedPlace {
    parent: FolderId,
    /// Folded.
    name: String,
}

impl ProtectedPlace {
    /// Protects what is at a path, through links. If it does not exist, then the first folder that is missing on its path.
    pub fn at(path: &Path) -> Option<Self> {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        real.ancestors().zip(real.ancestors().skip(1)).find_map(|(entry, parent)| {
            let parent = rustix::fs::open(parent, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
            Some(Self { parent: FolderId::of(parent)?, name: folded(entry.file_name()?.to_str()?) })
        })
    }

    /// Checks that an entry of a folder is not protected.
    pub fn check(protected: &[Self], parent: impl AsFd, name: &str) -> Result<(), FileError> {
        if protected.is_empty() {
            return Ok(());
        }
        let (parent, name) = (FolderId::of(parent), folded(name));
        let is_same = |place: &Self| Some(place.parent) == parent && place.name == name;
        if protected.iter().any(is_same) { Err(FileError::Protected) } else { Ok(()) }
    }

    /// Checks that a folder contains no protected place, not even a missing one, so that it can be moved or removed.
    pub fn check_contents(protected: &[Self], folder: impl AsFd) -> Result<(), FileError> {
        let folder = FolderId::of(folder);
        if protected.iter().any(|place| Some(place.parent) == folder) { Err(FileError::Protected) } else { Ok(()) }
    }
}

/// How folders are opened that a guest writes to.
pub const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Whether some file system could take a name for a protected one.
pub fn is_protected(name: &str) -> bool {
    let folded = folded(name);
    let matches = |protected: &&str| match protected.strip_prefix('*') {
        Some(end) => folded.ends_with(end),
        None => protected.eq_ignore_ascii_case(&folded),
    };
    folded.is_empty() || folded.starts_with('.') || is_short_name(&folded) || PROTECTED.iter().any(matches)
}

/// Whether some file system could take a name for `HEAD`.
pub fn is_head(name: &str) -> bool {
    folded(name) == "head"
}

/// Maps names to the same text if a file system may take them for the same: one that ignores case, normalizes, skips
/// characters without width, or, like that of Windows, drops dots and spaces at the end and whatever follows a colon.
fn folded(name: &str) -> String {
    let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    let visible: String = name.chars().filter(|character| !ignorable.contains(*character)).collect();
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd().normalize(&visible);
    // Some letters meet another only in upper case (`ſ` and `s`), some only in lower case (the Kelvin sign and `k`).
    let folded = decomposed.to_uppercase().to_lowercase();
    folded.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']).to_owned()
}

/// Whether a name has the form of those that Windows generates for long ones, such as `git~1` for `.git`.
fn is_short_name(name: &str) -> bool {
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let number = stem.rsplit_once('~').map_or("", |(_, number)| number);
    stem.len() <= 8 && extension.len() <= 3 && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Opens the folders of a path one after the other, without following links.
pub fn descend(top: impl AsFd, path: &str) -> Result<OwnedFd, FileError> {
    let top = rustix::fs::openat(top, ".", FOLDER, Mode::empty()).map_err(from_errno)?;
    names(path).try_fold(top, |folder, name| enter(&folder, name))
}

fn enter(folder: &OwnedFd, name: &str) -> Result<OwnedFd, FileError> {
    let opened = rustix::fs::openat(folder, name, FOLDER, Mode::empty());
    opened.map_err(|error| if is_link(folder, name) { FileError::ThroughLink } else { from_errno(error) })
}

/// Like [`descend`], but fails at a folder that is protected for what it is. The top and the first `named` folders below it do
/// not count, because the operator named them. Also returns whether one of these is a git directory, in which more of them may
/// be.
pub fn descend_unprotected(
    top: impl AsFd,
    path: &str,
    named: usize,
    protected: &[ProtectedPlace],
) -> Result<(OwnedFd, bool), FileError> {
    let mut folder = descend(top, "")?;
    let mut in_git = is_git_directory(folder.as_fd());
    let check_head = |folder: &OwnedFd, in_git: bool| {
        if !in_git && holds_head(folder.as_fd()) { Err(FileError::Protected) } else { Ok(()) }
    };
    check_head(&folder, in_git)?;
    for (name, depth) in names(path).zip(1..) {
        if depth > named {
            ProtectedPlace::check(protected, &folder, name)?;
        }
        folder = enter(&folder, name)?;
        in_git |= depth <= named && is_git_directory(folder.as_fd());
        check_head(&folder, in_git)?;
    }
    Ok((folder, in_git))
}

/// Whether a folder has a file `HEAD`. Git takes no folder without it for a repository; with it, `objects` and `refs`, or
/// `commondir`, would suffice. So a guest can neither create `HEAD` nor change anything beside it.
fn holds_head(folder: BorrowedFd<'_>) -> bool {
    kind_of(folder, "HEAD").is_some_and(|kind| kind != FileType::Directory)
}

/// Whether git takes a folder for a repository.
fn is_git_directory(folder: BorrowedFd<'_>) -> bool {
    let is_folder = |name| kind_of(folder, name) == Some(FileType::Directory);
    holds_head(folder) && (is_folder("objects") && is_folder("refs") || kind_of(folder, "commondir").is_some())
}

pub fn is_link(folder: impl AsFd, name: &str) -> bool {
    kind_of(folder.as_fd(), name) == Some(FileType::Symlink)
}

fn kind_of(folder: BorrowedFd<'_>, name: &str) -> Option<FileType> {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_file_system_could_take_for_protected_ones_are_protected() {
        let same = [
            ".GIT",
            ".git.",
            ".git ",
            ".git. .",
            ".git::$INDEX_ALLOCATION",
            "git~1",
            "GIT~12",
            "CLAUDE~1.MD",
            "GI7EB1~1",
            ".v\u{17f}code",
            "AGENT\u{17f}.md",
            "AGENTS.md ",
            "agents.MD",
            "\u{200b}.git",
            ".g\u{200d}it",
            "CLAUDE\u{feff}.md",
            "\u{ff23}\u{ff2c}\u{ff21}\u{ff35}\u{ff24}\u{ff25}.md",
            "\u{212a}.code-workspace",
            "s\u{212a}ills",
            "SKILL.md:x",
            "\u{2024}git",
            "...",
            ". .",
        ];
        for name in same {
            assert!(is_protected(name), "{name:?}");
        }
        for name in
            ["git", "a.git", "main.rs", "AGENTS.md.bak", "été.md", "文", "a~b", "draft~1.markdown", "~", "skills2"]
        {
            assert!(!is_protected(name), "{name:?}");
        }
        for name in ["HEAD", "head", "Head.", "HE\u{200b}AD", "HEAD:x"] {
            assert!(is_head(name), "{name:?}");
        }
        assert!(!is_head("HEAD.txt") && !is_head("ahead"));
    }
}
