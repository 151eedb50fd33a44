//! Which program a command starts.

use super::places::Scope;
use crate::config::variable;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What this program is called in settings.
const NAME: &str = "skillcell";

/// How to start this program. For one user it is a path, because clients that are started from a desktop often have another
/// PATH than a shell: the one that the PATH leads to, where a newer version will be too. Others have it elsewhere, so for
/// them it is the name.
pub fn own_name(scope: Scope) -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    Ok(match (find(NAME).filter(|found| is_same(found, &own)), scope) {
        (Some(_), Scope::Project) => PathBuf::from(NAME),
        (Some(found), Scope::User) if found.is_absolute() => found,
        _ => own,
    })
}

/// The program that a command starts, if there is one that can be started.
pub fn find(command: &str) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(PathBuf::from(command)).filter(|path| can_start(path));
    }
    let folders = variable("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(command)).find(|path| can_start(path))
}

/// Whether both are this very program.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(one).is_some() && real(one) == real(other)
}

/// Whether a command is called like this program.
pub fn is_called_skillcell(command: &str) -> bool {
    Path::new(command).file_name().is_some_and(|name| name == NAME)
}

fn can_start(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
