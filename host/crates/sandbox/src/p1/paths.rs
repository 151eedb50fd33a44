//! Imports that take a path.

use super::abi::{
    APPEND, Errno, FOLLOW, O_CREAT, O_DIRECTORY, O_EXCL, O_TRUNC, RIGHT_WRITE, SET_ACCESSED, SET_ACCESSED_NOW,
    SET_MODIFIED, SET_MODIFIED_NOW, file_type,
};
use super::descriptors::write_stat;
use super::{MODULE, with};
use crate::files::{NewTimes, OpenMode};
use crate::state::ScriptState;
use std::time::{Duration, SystemTime};
use wasmtime::{Caller, Linker};

type Call<'a> = Caller<'a, ScriptState>;

pub fn add_to_linker(linker: &mut Linker<ScriptState>) -> wasmtime::Result<()> {
    linker.func_wrap(
        MODULE,
        "path_open",
        |mut call: Call<'_>,
         fd: u32,
         lookup: u32,
         path: u32,
         length: u32,
         flags: u32,
         rights: u64,
         _: u64,
         fd_flags: u32,
         into: u32| {
            with(&mut call, |memory, state| {
                let from = state.descriptors.folder(fd)?;
                let path = memory.text(path, length)?;
                let mode = OpenMode {
                    // Folders are opened with all rights.
                    write: rights & RIGHT_WRITE != 0 && flags & O_DIRECTORY == 0,
                    create: flags & O_CREAT != 0,
                    exclusive: flags & O_EXCL != 0,
                    truncate: flags & O_TRUNC != 0,
                    folder: flags & O_DIRECTORY != 0,
                    follow: lookup & FOLLOW != 0,
                };
                let handle = state.files.open(&from, &path, mode)?;
                let fd = state.descriptors.insert(handle, fd_flags & APPEND != 0)?;
                memory.write_u32(into, fd)
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "path_filestat_get",
        |mut call: Call<'_>, fd: u32, lookup: u32, path: u32, length: u32, into: u32| {
            with(&mut call, |memory, state| {
                let from = state.descriptors.folder(fd)?;
                let path = memory.text(path, length)?;
                let stat = state.files.stat(&from, &path, lookup & FOLLOW != 0)?;
                let device = state.files.device(&from.join(&path)?.path);
                write_stat(memory, into, device, file_type(stat.kind), &stat)
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "path_filestat_set_times",
        |mut call: Call<'_>, fd: u32, _: u32, path: u32, length: u32, accessed: u64, modified: u64, flags: u32| {
            with(&mut call, |memory, state| {
                let from = state.descriptors.folder(fd)?;
                let path = memory.text(path, length)?;
                let times = new_times(accessed, modified, flags)?;
                Ok(state.files.set_times(&from, &path, times)?)
            })
        },
    )?;
    linker.func_wrap(MODULE, "path_create_directory", |mut call: Call<'_>, fd: u32, path: u32, length: u32| {
        with(&mut call, |memory, state| {
            let from = state.descriptors.folder(fd)?;
            Ok(state.files.create_folder(&from, &memory.text(path, length)?)?)
        })
    })?;
    linker.func_wrap(MODULE, "path_remove_directory", |mut call: Call<'_>, fd: u32, path: u32, length: u32| {
        with(&mut call, |memory, state| {
            let from = state.descriptors.folder(fd)?;
            Ok(state.files.remove_folder(&from, &memory.text(path, length)?)?)
        })
    })?;
    linker.func_wrap(MODULE, "path_unlink_file", |mut call: Call<'_>, fd: u32, path: u32, length: u32| {
        with(&mut call, |memory, state| {
            let from = state.descriptors.folder(fd)?;
            Ok(state.files.remove_file(&from, &memory.text(path, length)?)?)
        })
    })?;
    linker.func_wrap(
        MODULE,
        "path_rename",
        |mut call: Call<'_>, fd: u32, path: u32, length: u32, new_fd: u32, new_path: u32, new_length: u32| {
            with(&mut call, |memory, state| {
                let (from, to) = (state.descriptors.folder(fd)?, state.descriptors.folder(new_fd)?);
                let (old, new) = (memory.text(path, length)?, memory.text(new_path, new_length)?);
                Ok(state.files.rename((&from, &old), (&to, &new))?)
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "path_readlink",
        |mut call: Call<'_>, fd: u32, path: u32, length: u32, into: u32, room: u32, used: u32| {
            with(&mut call, |memory, state| {
                let from = state.descriptors.folder(fd)?;
                let target = state.files.read_link(&from, &memory.text(path, length)?)?;
                let fits = target.len().min(room as usize);
                memory.write(into, &target.as_bytes()[..fits])?;
                memory.write_u32(used, u32::try_from(fits).map_err(|_| Errno::IO)?)
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "path_symlink",
        |mut call: Call<'_>, _: u32, _: u32, fd: u32, path: u32, length: u32| {
            with(&mut call, |memory, state| {
                let from = state.descriptors.folder(fd)?;
                Err(state.files.refuse_link(&from, &memory.text(path, length)?).into())
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "path_link",
        |mut call: Call<'_>, _: u32, _: u32, _: u32, _: u32, fd: u32, path: u32, length: u32| {
            with(&mut call, |memory, state| {
                let from = state.descriptors.folder(fd)?;
                Err(state.files.refuse_link(&from, &memory.text(path, length)?).into())
            })
        },
    )?;
    Ok(())
}

/// Converts times from nanoseconds and from flags that select which to set, and which of them to the current time.
pub fn new_times(accessed: u64, modified: u64, flags: u32) -> Result<NewTimes, Errno> {
    let time = |nanoseconds: u64, set: u32, now: u32| match (flags & set != 0, flags & now != 0) {
        (true, true) => Err(Errno::INVAL),
        (true, false) => Ok(Some(SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds))),
        (false, true) => Ok(Some(SystemTime::now())),
        (false, false) => Ok(None),
    };
    Ok(NewTimes {
        accessed: time(accessed, SET_ACCESSED, SET_ACCESSED_NOW)?,
        modified: time(modified, SET_MODIFIED, SET_MODIFIED_NOW)?,
    })
}
