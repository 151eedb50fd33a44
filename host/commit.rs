//! Finds the commit that is checked out, by reading files of git. No program is started, and without a repository there is none.

use std::path::{Path, PathBuf};

/// In the archives that `git archive` makes, this file has the commit; in a repository it has a placeholder.
const ARCHIVED: &str = "host/archived-commit";

pub struct Checkout {
    pub commit: String,
    /// The files that change when another commit is checked out.
    pub read: Vec<PathBuf>,
}

/// Returns the commit of the repository, or of the archive, in exactly this folder.
pub fn find(folder: &Path) -> Option<Checkout> {
    let archived = folder.join(ARCHIVED);
    if let Some(commit) = read(&archived).filter(|text| is_commit(text)) {
        return Some(Checkout { commit, read: vec![archived] });
    }
    let git = git_folder(folder)?;
    // A second working tree shares the references of the first.
    let shared = read(&git.join("commondir")).map_or_else(|| git.clone(), |shared| git.join(shared));
    let head = git.join("HEAD");
    let text = read(&head)?;
    let mut files = vec![head, git.join("logs/HEAD")];
    let commit = match text.strip_prefix("ref: ") {
        None => text,
        Some(name) => {
            let (loose, packed) = (shared.join(name), shared.join("packed-refs"));
            let commit = read(&loose).or_else(|| packed_commit(&packed, name))?;
            files.extend([loose, packed]);
            commit
        }
    };
    // Cargo takes a file that does not exist for a change.
    files.retain(|file| file.exists());
    is_commit(&commit).then_some(Checkout { commit, read: files })
}

fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let elsewhere = read(&git)?;
    Some(folder.join(elsewhere.strip_prefix("gitdir: ")?))
}

/// The commit of a reference that has no file of its own.
fn packed_commit(file: &Path, name: &str) -> Option<String> {
    let all = read(file)?;
    let mut references = all.lines().filter_map(|line| line.split_once(' '));
    references.find(|(_, found)| *found == name).map(|(commit, _)| commit.to_owned())
}

fn read(file: &Path) -> Option<String> {
    std::fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
}

/// Whether a text is a digest, SHA-1 or SHA-256.
pub fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}
