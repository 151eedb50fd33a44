//! Finds the program that a command starts.

use super::config_files::Scope;
use base::environment::variable;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

const NAME: &str = "skillcell";

/// The command that starts this program. For one user it is a path, because clients started from a desktop often have a
/// different PATH: the one found in PATH, which stays valid after an upgrade. For a project it is the name, because other
/// users have the program elsewhere.
pub fn own_command(scope: Scope) -> io::Result<PathBuf> {
    let own = std::env::current_exe()?;
    Ok(match (find(NAME).filter(|found| is_same(found, &own)), scope) {
        (Some(_), Scope::Project) => PathBuf::from(NAME),
        (Some(found), Scope::User) if found.is_absolute() => found,
        _ => own,
    })
}

/// The program that a command starts, if it exists and is executable.
pub fn find(command: &str) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(PathBuf::from(command)).filter(|path| is_executable(path));
    }
    let folders = variable("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(command)).find(|path| is_executable(path))
}

/// The command that installs the program for good, if its path is in a cache of a tool that only runs programs.
pub fn install_command(program: &str) -> Option<&'static str> {
    const CACHES: [(&str, &str); 5] = [
        ("/_npx/", "npm install --global skillcell"),
        ("/uv/archive-v", "uv tool install skillcell"),
        ("/uv/environments-v", "uv tool install skillcell"),
        ("/pipx/.cache/", "pipx install skillcell"),
        ("/.cache/pipx/", "pipx install skillcell"),
    ];
    CACHES.iter().find(|(cache, _)| program.contains(cache)).map(|(_, command)| *command)
}

/// Whether both paths lead to the same existing file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(one).is_some() && real(one) == real(other)
}

/// Whether the file name of a command is that of this program.
pub fn is_called_skillcell(command: &str) -> bool {
    Path::new(command).file_name().is_some_and(|name| name == NAME)
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}
