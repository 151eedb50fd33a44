//! The folders that the host lends, as bashkit's file system.
//!
//! bashkit resolves links itself and calls `stat` without following them. Reads and writes follow links in the host,
//! which saves bashkit the lookup.

use std::collections::HashMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use bashkit::{DirEntry, FileSystem, FileSystemExt, FileType, Metadata, Result};

use crate::devices::{self, Device};
use crate::failures::{of_kind, with_standard_message};
use crate::{script, sourced};

#[derive(Default)]
pub struct LentFiles {
    /// Modes set by `chmod`. WASI has no permissions, and a script that makes a file executable means to run it.
    modes: Mutex<HashMap<PathBuf, u32>>,
}

impl LentFiles {
    fn metadata(&self, path: &Path, found: &fs::Metadata) -> Metadata {
        let kind = found.file_type();
        let file_type = if kind.is_symlink() {
            FileType::Symlink
        } else if kind.is_dir() {
            FileType::Directory
        } else {
            FileType::File
        };
        let modified = found.modified().unwrap_or(UNIX_EPOCH);
        let mode = self.chosen_mode(path).unwrap_or_else(|| default_mode(path, file_type));
        Metadata { file_type, size: found.len(), mode, modified, created: found.created().unwrap_or(modified) }
    }

    fn chosen_mode(&self, path: &Path) -> Option<u32> {
        self.modes.lock().unwrap_or_else(PoisonError::into_inner).get(path).copied()
    }

    fn choose_mode(&self, path: &Path, mode: Option<u32>) {
        let mut modes = self.modes.lock().unwrap_or_else(PoisonError::into_inner);
        match mode {
            Some(mode) => modes.insert(path.to_owned(), mode),
            None => modes.remove(path),
        };
    }
}

/// Scripts are executable and other files are not: by extension, or by the first line.
fn default_mode(path: &Path, file_type: FileType) -> u32 {
    let runs = match (file_type, path.extension().and_then(|ending| ending.to_str())) {
        (FileType::File, Some("sh" | "bash")) => true,
        (FileType::File, None | Some("py" | "js" | "mjs" | "ts")) => names_interpreter(path),
        (FileType::File, Some(_)) => false,
        _ => true,
    };
    if runs { 0o755 } else { 0o644 }
}

fn names_interpreter(path: &Path) -> bool {
    use std::io::Read;

    let mut start = [0; 2];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"#!"
}

impl FileSystemExt for LentFiles {}

#[async_trait]
impl FileSystem for LentFiles {
    async fn read_file(&self, path: &Path) -> Result<Vec<u8>> {
        if let Some(device) = Device::at(path) {
            return Ok(device.read());
        }
        // Hosts fail in different ways when a folder is opened for reading.
        let content = fs::read(path).map_err(|error| {
            if path.is_dir() { of_kind(ErrorKind::IsADirectory) } else { with_standard_message(&error) }
        })?;
        Ok(if sourced::is_expected(path) { script::adapted(content).into_bytes() } else { content })
    }

    async fn write_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        if Device::at(path).is_some() {
            return Ok(());
        }
        fs::write(path, content).map_err(|error| with_standard_message(&error))
    }

    async fn append_file(&self, path: &Path, content: &[u8]) -> Result<()> {
        if Device::at(path).is_some() {
            return Ok(());
        }
        let opened = fs::OpenOptions::new().append(true).create(true).open(path);
        opened.and_then(|mut file| file.write_all(content)).map_err(|error| with_standard_message(&error))
    }

    async fn mkdir(&self, path: &Path, recursive: bool) -> Result<()> {
        let made = if recursive { fs::create_dir_all(path) } else { fs::create_dir(path) };
        made.map_err(|error| with_standard_message(&error))
    }

    async fn remove(&self, path: &Path, recursive: bool) -> Result<()> {
        remove(path, recursive).map_err(|error| with_standard_message(&error))?;
        self.choose_mode(path, None);
        Ok(())
    }

    async fn stat(&self, path: &Path) -> Result<Metadata> {
        if Device::at(path).is_some() {
            return Ok(Device::metadata());
        }
        if devices::is_folder(path) {
            return Ok(devices::folder());
        }
        let found = fs::symlink_metadata(path).map_err(|error| with_standard_message(&error))?;
        Ok(self.metadata(path, &found))
    }

    async fn read_dir(&self, path: &Path) -> Result<Vec<DirEntry>> {
        if devices::is_folder(path) {
            return Ok(devices::entries());
        }
        let mut entries = Vec::new();
        for entry in fs::read_dir(path).map_err(|error| with_standard_message(&error))? {
            let entry = entry.map_err(|error| with_standard_message(&error))?;
            // A file removed since the folder was read is not an error.
            let Ok(found) = entry.metadata() else { continue };
            let metadata = self.metadata(&entry.path(), &found);
            entries.push(DirEntry { name: entry.file_name().to_string_lossy().into_owned(), metadata });
        }
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(entries)
    }

    async fn exists(&self, path: &Path) -> Result<bool> {
        Ok(Device::at(path).is_some() || devices::is_folder(path) || fs::symlink_metadata(path).is_ok())
    }

    async fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        match fs::rename(from, to) {
            // `/skill`, `/work` and `/tmp` look like one file system but are several.
            Err(error) if error.kind() == ErrorKind::CrossesDevices => {
                copy_all(from, to).and_then(|()| remove(from, true)).map_err(|error| with_standard_message(&error))?;
            }
            renamed => renamed.map_err(|error| with_standard_message(&error))?,
        }
        let mode = self.chosen_mode(from);
        self.choose_mode(from, None);
        self.choose_mode(to, mode);
        Ok(())
    }

    async fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        if Device::at(from).is_some() || Device::at(to).is_some() {
            let content = self.read_file(from).await?;
            return self.write_file(to, &content).await;
        }
        fs::copy(from, to).map(drop).map_err(|error| with_standard_message(&error))
    }

    async fn symlink(&self, target: &Path, link: &Path) -> Result<()> {
        #[expect(deprecated, reason = "the only stable way to make a link on WASI")]
        let linked = fs::soft_link(target, link);
        linked.map_err(|error| with_standard_message(&error))
    }

    async fn read_link(&self, path: &Path) -> Result<PathBuf> {
        fs::read_link(path).map_err(|error| with_standard_message(&error))
    }

    async fn chmod(&self, path: &Path, mode: u32) -> Result<()> {
        fs::metadata(path).map_err(|error| with_standard_message(&error))?;
        self.choose_mode(path, Some(mode));
        Ok(())
    }

    async fn set_modified_time(&self, path: &Path, time: SystemTime) -> Result<()> {
        let opened = fs::OpenOptions::new().write(true).open(path).or_else(|_| fs::File::open(path));
        opened.and_then(|file| file.set_modified(time)).map_err(|error| with_standard_message(&error))
    }
}

fn remove(path: &Path, recursive: bool) -> std::io::Result<()> {
    match (fs::symlink_metadata(path)?.is_dir(), recursive) {
        (true, true) => fs::remove_dir_all(path),
        (true, false) => fs::remove_dir(path),
        (false, _) => fs::remove_file(path),
    }
}

fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    if !fs::symlink_metadata(from)?.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
