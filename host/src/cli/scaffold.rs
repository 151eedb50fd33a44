//! Creates folders with new files, and never changes what exists.

use anyhow::{Context as _, bail};
use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

/// Creates a folder, which must not exist yet, with these files. `option` is the one that chooses another place.
pub fn create(folder: &Path, files: &[(&str, String)], option: &str) -> anyhow::Result<()> {
    match std::fs::create_dir(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{} already exists\nhint: use another name, or another folder with `{option}`", folder.display())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let parent = folder.parent().unwrap_or(folder);
            bail!("there is no folder {}\nhint: create it first, or use another with `{option}`", parent.display())
        }
        Err(error) => return Err(error).with_context(|| format!("cannot create {}", folder.display())),
    }
    files.iter().try_for_each(|(path, text)| write(&folder.join(path), text))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let create = || {
        std::fs::create_dir_all(path.parent().unwrap_or(path))?;
        File::create_new(path)?.write_all(text.as_bytes())
    };
    create().with_context(|| format!("cannot write {}", path.display()))
}
