//! Replaces files in folders that others may have prepared: relative to an opened folder, and never through a link.

use base::digest::hex;
use base::user_files;
use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, linkat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Component, Path, PathBuf};

#[derive(Debug)]
pub enum OpenError {
    /// The part of the path up to a link.
    Link(PathBuf),
    Failed(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Errno> for OpenError {
    fn from(error: Errno) -> Self {
        Self::Failed(error.into())
    }
}

/// Opens the folder at a path below another one. With `create`, missing ones are created.
pub fn open_folder(base: &Dir, path: &Path, create: bool) -> Result<Dir, OpenError> {
    let (mut folder, mut opened) = (base.try_clone()?, PathBuf::new());
    for part in path.components() {
        let Component::Normal(name) = part else { return Err(Errno::INVAL.into()) };
        opened.push(name);
        if create {
            match mkdirat(&folder, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        folder = match openat(&folder, name, flags, Mode::empty()) {
            Ok(next) => Dir::from_std_file(next.into()),
            Err(_) if is_link(&folder, name) => return Err(OpenError::Link(opened)),
            Err(error) => return Err(error.into()),
        };
    }
    Ok(folder)
}

pub fn is_link(folder: &Dir, name: &OsStr) -> bool {
    let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}

/// A new file next to the one that it will replace, deleted on drop unless it was renamed. `tempfile` works with paths, which
/// could lead elsewhere in the meantime.
pub struct TemporaryFile<'folder> {
    folder: &'folder Dir,
    name: String,
    file: File,
    is_renamed: bool,
}

impl<'folder> TemporaryFile<'folder> {
    /// Creates a file with these permissions, as far as the umask allows.
    pub fn create_in(folder: &'folder Dir, mode: u32) -> io::Result<Self> {
        let mut bytes = [0; 8];
        user_files::fill_random(&mut bytes)?;
        let name = format!(".skillcell-{}", hex(&bytes));
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(folder, &name, flags, Mode::from_raw_mode(mode))?.into();
        Ok(Self { folder, name, file, is_renamed: false })
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Gives it the user, group and permissions of the file that it replaces.
    pub fn resemble(&self, owner: (u32, u32), mode: u32) -> io::Result<()> {
        let created = self.file.metadata()?;
        if (created.uid(), created.gid()) != owner {
            fchown(&self.file, Some(owner.0), Some(owner.1))?;
        }
        // Last, because changing the owner may clear permission bits.
        self.file.set_permissions(Permissions::from_mode(mode & 0o7777))
    }

    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Gives the complete file another name, which must be free.
    pub fn link_as(&self, name: &OsStr) -> io::Result<()> {
        Ok(linkat(self.folder, &self.name, self.folder, name, AtFlags::empty())?)
    }

    /// Replaces the file of this name, or the link itself if it is one.
    pub fn rename_to(mut self, name: &OsStr) -> io::Result<()> {
        renameat(self.folder, &self.name, self.folder, name)?;
        self.is_renamed = true;
        Ok(())
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            let _ = unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}
