//! Which program a command starts.

use crate::config::variable;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What this program is called in settings.
const NAME: &str = "skillcell";

/// How to start this program: by its name if the PATH leads to it, else by its path.
pub fn own_name() -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let found = find(NAME).is_some_and(|found| is_same(&found, &own));
    Ok(if found { PathBuf::from(NAME) } else { own })
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
