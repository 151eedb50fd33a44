//! Imports that take a path.

use super::abi::{
    APPEND, Errno, FOLLOW, O_CREAT, O_DIRECTORY, O_EXCL, O_TRUNC, RIGHT_WRITE, Result, SET_ACCESSED, SET_ACCESSED_NOW,
    SET_MODIFIED, SET_MODIFIED_NOW,
};
use super::descriptors::write_stat;
use crate::files::{NewTimes, OpenMode};
use crate::state::ScriptState;
use std::time::{Duration, SystemTime};
use wasmtime::Linker;

pub fn add_to_linker(linker: &mut Linker<ScriptState>) -> wasmtime::Result<()> {
    imports! { linker;
        fn path_open(memory, state, fd: u32, lookup: u32, path: u32, length: u32, flags: u32, rights: u64,
                     _inheriting: u64, fd_flags: u32, into: u32) {
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
            let handle = state.granted.files.open(&from, &path, mode)?;
            let fd = state.descriptors.insert(handle, fd_flags & APPEND != 0)?;
            memory.write_u32(into, fd)
        }
        fn path_filestat_get(memory, state, fd: u32, lookup: u32, path: u32, length: u32, into: u32) {
            let from = state.descriptors.folder(fd)?;
            let path = memory.text(path, length)?;
            let stat = state.granted.files.stat(&from, &path, lookup & FOLLOW != 0)?;
            let device = state.granted.files.device(&from.join(&path)?.path);
            write_stat(memory, into, device, &stat)
        }
        fn path_filestat_set_times(memory, state, fd: u32, _lookup: u32, path: u32, length: u32,
                                   accessed: u64, modified: u64, flags: u32) {
            let from = state.descriptors.folder(fd)?;
            let path = memory.text(path, length)?;
            let times = new_times(accessed, modified, flags)?;
            Ok(state.granted.files.set_times(&from, &path, times)?)
        }
        fn path_create_directory(memory, state, fd: u32, path: u32, length: u32) {
            let from = state.descriptors.folder(fd)?;
            Ok(state.granted.files.create_folder(&from, &memory.text(path, length)?)?)
        }
        fn path_remove_directory(memory, state, fd: u32, path: u32, length: u32) {
            let from = state.descriptors.folder(fd)?;
            Ok(state.granted.files.remove_folder(&from, &memory.text(path, length)?)?)
        }
        fn path_unlink_file(memory, state, fd: u32, path: u32, length: u32) {
            let from = state.descriptors.folder(fd)?;
            Ok(state.granted.files.remove_file(&from, &memory.text(path, length)?)?)
        }
        fn path_rename(memory, state, fd: u32, path: u32, length: u32, new_fd: u32, new_path: u32, new_length: u32) {
            let (from, to) = (state.descriptors.folder(fd)?, state.descriptors.folder(new_fd)?);
            let (old, new) = (memory.text(path, length)?, memory.text(new_path, new_length)?);
            let ScriptState { granted, stop, .. } = state;
            Ok(granted.files.rename((&from, &old), (&to, &new), &|| stop.is_due())?)
        }
        fn path_readlink(memory, state, fd: u32, path: u32, length: u32, into: u32, room: u32, used: u32) {
            let from = state.descriptors.folder(fd)?;
            let target = state.granted.files.read_link(&from, &memory.text(path, length)?)?;
            let fits = target.len().min(room as usize);
            memory.write(into, &target.as_bytes()[..fits])?;
            memory.write_u32(used, u32::try_from(fits).map_err(|_| Errno::IO)?)
        }
        fn path_symlink(memory, state, _target: u32, _target_length: u32, fd: u32, path: u32, length: u32) {
            let from = state.descriptors.folder(fd)?;
            Err(state.granted.files.refuse_link(&from, &memory.text(path, length)?).into())
        }
        fn path_link(memory, state, _old_fd: u32, _lookup: u32, _old_path: u32, _old_length: u32,
                     fd: u32, path: u32, length: u32) {
            let from = state.descriptors.folder(fd)?;
            Err(state.granted.files.refuse_link(&from, &memory.text(path, length)?).into())
        }
    }
    Ok(())
}

/// Converts times from nanoseconds and from flags that select which to set, and which of them to the current time.
pub fn new_times(accessed: u64, modified: u64, flags: u32) -> Result<NewTimes> {
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
