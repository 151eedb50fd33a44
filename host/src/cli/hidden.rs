//! The note about skills in hidden folders.

use base::printable::{counted, printable};
use catalog::HiddenSkills;
use std::path::Path;

/// Folders named in the note.
const MAX_FOLDERS: usize = 10;

/// Says how many skills are not served because their folders are hidden, and how to serve them; `None` if there are none.
/// Folders are shown as seen from the working folder.
pub fn note(hidden: &[HiddenSkills], working_folder: &Path) -> Option<String> {
    let skills: usize = hidden.iter().map(|folder| folder.skills).sum();
    let folder = |hidden: &HiddenSkills| {
        let shown = hidden.folder.strip_prefix(working_folder).unwrap_or(&hidden.folder);
        format!("`{}` ({})", printable(&shown.to_string_lossy()), hidden.skills)
    };
    let mut folders: Vec<String> = hidden.iter().take(MAX_FOLDERS).map(folder).collect();
    if hidden.len() > MAX_FOLDERS {
        folders.push(format!("and {} more", hidden.len() - MAX_FOLDERS));
    }
    let are = if skills == 1 { "is" } else { "are" };
    (skills > 0).then(|| {
        format!(
            "{} {are} in hidden folders, which are not served\nhint: to serve them, use these folders as roots: {}",
            counted(skills, "skill"),
            folders.join(", ")
        )
    })
}
