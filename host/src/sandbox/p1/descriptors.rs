//! The open files of a module, by number, and the imports that work on them.

use super::numbers::{ALL_RIGHTS, APPEND, CHARACTER_DEVICE, Errno, file_type};
use super::{GuestBytes, MODULE, paths, with};
use crate::sandbox::files::path::GuestPath;
use crate::sandbox::files::{Entry, Handle, Kind, OpenFile, Opened, Stat};
use crate::sandbox::state::ScriptState;
use std::sync::Arc;
use std::time::SystemTime;
use wasmtime::{Caller, Linker};

/// Most files a module has open at once.
const MOST_OPEN: usize = 1024;

/// Most bytes that one read or write moves. The guest asks again for the rest, and can be stopped in between.
const MOST_AT_ONCE: usize = 8 << 20;

/// The first preopened folder; WASI 0.1 gives it this number, and CPython remembers it.
const TOP: u32 = 3;

/// Open files by number.
pub struct Descriptors {
    open: Vec<Option<Descriptor>>,
    /// The folder that is being listed, with its entries as they were when that began. Only one is kept.
    listing: Option<(u32, Arc<[Entry]>)>,
}

pub struct Descriptor {
    pub what: What,
    position: u64,
    append: bool,
    path: GuestPath,
}

pub enum What {
    Input,
    Output,
    Error,
    Folder,
    File(Arc<dyn OpenFile>),
}

impl Default for Descriptors {
    fn default() -> Self {
        let streams = [What::Input, What::Output, What::Error, What::Folder];
        let open = streams.into_iter().map(|what| Some(Descriptor::new(what, GuestPath::default(), false))).collect();
        Self { open, listing: None }
    }
}

impl Descriptor {
    fn new(what: What, path: GuestPath, append: bool) -> Self {
        Self { what, position: 0, append, path }
    }
}

impl Descriptors {
    pub fn insert(&mut self, handle: Handle, append: bool) -> Result<u32, Errno> {
        let what = match handle.opened {
            Opened::Folder => What::Folder,
            Opened::File(file) => What::File(file),
        };
        let descriptor = Some(Descriptor::new(what, handle.path, append));
        let free = self.open.iter().position(Option::is_none);
        let number = match free {
            Some(number) => {
                self.open[number] = descriptor;
                number
            }
            None if self.open.len() < MOST_OPEN => {
                self.open.push(descriptor);
                self.open.len() - 1
            }
            None => return Err(Errno::MFILE),
        };
        u32::try_from(number).map_err(|_| Errno::MFILE)
    }

    /// The place of a folder that paths may start from.
    pub fn folder(&self, number: u32) -> Result<GuestPath, Errno> {
        match self.get(number)? {
            Descriptor { what: What::Folder, path, .. } => Ok(path.clone()),
            _ => Err(Errno::NOTDIR),
        }
    }

    fn get(&self, number: u32) -> Result<&Descriptor, Errno> {
        self.open.get(number as usize).and_then(Option::as_ref).ok_or(Errno::BADF)
    }

    fn get_mut(&mut self, number: u32) -> Result<&mut Descriptor, Errno> {
        self.open.get_mut(number as usize).and_then(Option::as_mut).ok_or(Errno::BADF)
    }

    fn file(&self, number: u32) -> Result<Arc<dyn OpenFile>, Errno> {
        match &self.get(number)?.what {
            What::File(file) => Ok(Arc::clone(file)),
            What::Folder => Err(Errno::ISDIR),
            What::Input | What::Output | What::Error => Err(Errno::SPIPE),
        }
    }
}

type Call<'a> = Caller<'a, ScriptState>;

pub fn add_to_linker(linker: &mut Linker<ScriptState>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "fd_advise", |mut call: Call<'_>, fd: u32, _: u64, _: u64, _: u32| {
        with(&mut call, |_, state| state.descriptors.get(fd).map(drop))
    })?;
    linker.func_wrap(MODULE, "fd_allocate", |mut call: Call<'_>, fd: u32, offset: u64, length: u64| {
        with(&mut call, |_, state| {
            let file = state.descriptors.file(fd)?;
            let end = offset.checked_add(length).ok_or(Errno::INVAL)?;
            if file.stat()?.size < end { Ok(file.set_size(end)?) } else { Ok(()) }
        })
    })?;
    linker.func_wrap(MODULE, "fd_close", |mut call: Call<'_>, fd: u32| {
        with(&mut call, |_, state| {
            state.descriptors.get(fd)?;
            state.descriptors.open[fd as usize] = None;
            Ok(())
        })
    })?;
    for name in ["fd_datasync", "fd_sync"] {
        // What is written goes to the operating system at once; making it durable is not a script's concern.
        linker.func_wrap(MODULE, name, |mut call: Call<'_>, fd: u32| {
            with(&mut call, |_, state| state.descriptors.get(fd).map(drop))
        })?;
    }
    linker.func_wrap(MODULE, "fd_fdstat_get", |mut call: Call<'_>, fd: u32, into: u32| {
        with(&mut call, |bytes, state| describe(bytes, state, fd, into))
    })?;
    linker.func_wrap(MODULE, "fd_fdstat_set_flags", |mut call: Call<'_>, fd: u32, flags: u32| {
        with(&mut call, |_, state| {
            state.descriptors.get_mut(fd)?.append = flags & APPEND != 0;
            Ok(())
        })
    })?;
    linker.func_wrap(MODULE, "fd_fdstat_set_rights", |mut call: Call<'_>, fd: u32, _: u64, _: u64| {
        with(&mut call, |_, state| state.descriptors.get(fd).map(drop))
    })?;
    linker.func_wrap(MODULE, "fd_filestat_get", |mut call: Call<'_>, fd: u32, into: u32| {
        with(&mut call, |bytes, state| {
            let Descriptor { what, path, .. } = state.descriptors.get(fd)?;
            let device = state.files.device(path);
            match what {
                What::File(file) => write_stat(bytes, into, device, file_type(Kind::File), &file.stat()?),
                What::Folder => {
                    write_stat(bytes, into, device, file_type(Kind::Folder), &state.files.stat_at(path, true)?)
                }
                What::Input | What::Output | What::Error => {
                    bytes.write(into, &[0; 64])?;
                    bytes.write(into + 16, &[CHARACTER_DEVICE])
                }
            }
        })
    })?;
    linker.func_wrap(MODULE, "fd_filestat_set_size", |mut call: Call<'_>, fd: u32, size: u64| {
        with(&mut call, |_, state| Ok(state.descriptors.file(fd)?.set_size(size)?))
    })?;
    linker.func_wrap(
        MODULE,
        "fd_filestat_set_times",
        |mut call: Call<'_>, fd: u32, accessed: u64, modified: u64, flags: u32| {
            with(&mut call, |_, state| {
                let path = state.descriptors.get(fd)?.path.clone();
                Ok(state.files.touch(&path, paths::new_times(accessed, modified, flags)?)?)
            })
        },
    )?;
    linker.func_wrap(MODULE, "fd_prestat_get", |mut call: Call<'_>, fd: u32, into: u32| {
        with(&mut call, |bytes, state| match state.descriptors.get(fd)?.what {
            What::Folder if fd == TOP => bytes.write(into, &[0, 0, 0, 0, 1, 0, 0, 0]),
            _ => Err(Errno::BADF),
        })
    })?;
    linker.func_wrap(MODULE, "fd_prestat_dir_name", |mut call: Call<'_>, fd: u32, into: u32, length: u32| {
        with(&mut call, |bytes, _| match (fd, length) {
            (TOP, 1..) => bytes.write(into, b"/"),
            (TOP, 0) => Err(Errno::NAMETOOLONG),
            _ => Err(Errno::BADF),
        })
    })?;
    linker.func_wrap(
        MODULE,
        "fd_pread",
        |mut call: Call<'_>, fd: u32, list: u32, count: u32, offset: u64, done: u32| {
            with(&mut call, |bytes, state| {
                let file = state.descriptors.file(fd)?;
                let read = scatter(bytes, &*file, list, count, offset)?;
                bytes.write_u32(done, read)
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "fd_pwrite",
        |mut call: Call<'_>, fd: u32, list: u32, count: u32, offset: u64, done: u32| {
            with(&mut call, |bytes, state| {
                let file = state.descriptors.file(fd)?;
                let written = gather(bytes, list, count, |from, before| file.write_at(from, offset + before))?;
                bytes.write_u32(done, written)
            })
        },
    )?;
    linker.func_wrap(MODULE, "fd_read", |mut call: Call<'_>, fd: u32, list: u32, count: u32, done: u32| {
        with(&mut call, |bytes, state| {
            if matches!(state.descriptors.get(fd)?.what, What::Input) {
                return bytes.write_u32(done, 0);
            }
            let file =
                state.descriptors.file(fd).map_err(|error| if error == Errno::SPIPE { Errno::BADF } else { error })?;
            let descriptor = state.descriptors.get_mut(fd)?;
            let read = scatter(bytes, &*file, list, count, descriptor.position)?;
            descriptor.position += u64::from(read);
            bytes.write_u32(done, read)
        })
    })?;
    linker.func_wrap(MODULE, "fd_write", |mut call: Call<'_>, fd: u32, list: u32, count: u32, done: u32| {
        with(&mut call, |bytes, state| {
            let written = write(bytes, state, fd, list, count)?;
            bytes.write_u32(done, written)
        })
    })?;
    linker.func_wrap(
        MODULE,
        "fd_readdir",
        |mut call: Call<'_>, fd: u32, into: u32, length: u32, cookie: u64, used: u32| {
            with(&mut call, |bytes, state| {
                let written = list(bytes, state, fd, (into, length), cookie)?;
                bytes.write_u32(used, written)
            })
        },
    )?;
    linker.func_wrap(MODULE, "fd_renumber", |mut call: Call<'_>, from: u32, to: u32| {
        with(&mut call, |_, state| {
            state.descriptors.get(from)?;
            state.descriptors.get(to)?;
            if from != to {
                state.descriptors.open[to as usize] = state.descriptors.open[from as usize].take();
            }
            Ok(())
        })
    })?;
    linker.func_wrap(MODULE, "fd_seek", |mut call: Call<'_>, fd: u32, offset: i64, whence: u32, into: u32| {
        with(&mut call, |bytes, state| {
            let file = state.descriptors.file(fd)?;
            let descriptor = state.descriptors.get_mut(fd)?;
            let start = match whence {
                0 => 0,
                1 => descriptor.position,
                2 => file.stat()?.size,
                _ => return Err(Errno::INVAL),
            };
            let position = start.checked_add_signed(offset).filter(|position| *position <= i64::MAX.cast_unsigned());
            descriptor.position = position.ok_or(Errno::INVAL)?;
            bytes.write_u64(into, descriptor.position)
        })
    })?;
    linker.func_wrap(MODULE, "fd_tell", |mut call: Call<'_>, fd: u32, into: u32| {
        with(&mut call, |bytes, state| {
            state.descriptors.file(fd)?;
            bytes.write_u64(into, state.descriptors.get(fd)?.position)
        })
    })?;
    Ok(())
}

fn describe(bytes: &mut GuestBytes<'_>, state: &ScriptState, fd: u32, into: u32) -> Result<(), Errno> {
    let descriptor = state.descriptors.get(fd)?;
    let kind = match descriptor.what {
        What::Input | What::Output | What::Error => CHARACTER_DEVICE,
        What::Folder => file_type(Kind::Folder),
        What::File(_) => file_type(Kind::File),
    };
    bytes.write(into, &[0; 24])?;
    bytes.write(into, &[kind])?;
    bytes.write(into + 2, &[u8::from(descriptor.append)])?;
    bytes.write_u64(into + 8, ALL_RIGHTS)?;
    bytes.write_u64(into + 16, ALL_RIGHTS)
}

/// Reads one after the other into the pieces, until one is not filled.
fn scatter(bytes: &mut GuestBytes<'_>, file: &dyn OpenFile, list: u32, count: u32, offset: u64) -> Result<u32, Errno> {
    let mut read: u32 = 0;
    for (start, length) in bytes.pieces(list, count)? {
        let into = bytes.slice_mut(start, length.min(u32::MAX >> 9))?;
        let got = file.read_at(into, offset.checked_add(u64::from(read)).ok_or(Errno::INVAL)?)?;
        read += u32::try_from(got).map_err(|_| Errno::IO)?;
        if got < length as usize || read as usize >= MOST_AT_ONCE {
            break;
        }
    }
    Ok(read)
}

/// Hands the pieces over one after the other, with the number of bytes before each.
fn gather(
    bytes: &GuestBytes<'_>,
    list: u32,
    count: u32,
    mut write: impl FnMut(&[u8], u64) -> Result<usize, crate::sandbox::files::FileError>,
) -> Result<u32, Errno> {
    let mut written: usize = 0;
    for (start, length) in bytes.pieces(list, count)? {
        let from = bytes.slice(start, length)?;
        let from = &from[..from.len().min(MOST_AT_ONCE)];
        match write(from, written as u64) {
            Ok(count) => written += count,
            Err(error) if written == 0 => return Err(error.into()),
            Err(_) => break,
        }
        if written >= MOST_AT_ONCE || from.len() < length as usize {
            break;
        }
    }
    u32::try_from(written).map_err(|_| Errno::IO)
}

fn write(bytes: &GuestBytes<'_>, state: &mut ScriptState, fd: u32, list: u32, count: u32) -> Result<u32, Errno> {
    let output = match &state.descriptors.get(fd)?.what {
        What::Output => Some(&state.stdout),
        What::Error => Some(&state.stderr),
        What::Input => return Err(Errno::BADF),
        What::Folder | What::File(_) => None,
    };
    if let Some(output) = output {
        return gather(bytes, list, count, |from, _| {
            output.append(from);
            Ok(from.len())
        });
    }
    let file = state.descriptors.file(fd)?;
    let descriptor = state.descriptors.get_mut(fd)?;
    if descriptor.append {
        descriptor.position = file.stat()?.size;
    }
    let position = descriptor.position;
    let written = gather(bytes, list, count, |from, before| file.write_at(from, position + before))?;
    descriptor.position += u64::from(written);
    Ok(written)
}

/// Entries of a folder, each behind a head of 24 bytes. The last may be cut; the guest then asks again with more room.
fn list(
    bytes: &mut GuestBytes<'_>,
    state: &mut ScriptState,
    fd: u32,
    (into, length): (u32, u32),
    cookie: u64,
) -> Result<u32, Errno> {
    let path = state.descriptors.folder(fd)?;
    let known = state.descriptors.listing.take().filter(|(number, _)| *number == fd && cookie != 0);
    let entries = match known {
        Some((_, entries)) => entries,
        None => state.files.list(&path)?.into(),
    };
    state.descriptors.listing = Some((fd, Arc::clone(&entries)));
    let mut used: u32 = 0;
    let first = usize::try_from(cookie).unwrap_or(usize::MAX).min(entries.len());
    for (number, entry) in entries.iter().enumerate().skip(first) {
        let mut record = [0; 24].to_vec();
        record[..8].copy_from_slice(&(number as u64 + 1).to_le_bytes());
        record[8..16].copy_from_slice(&entry.number.to_le_bytes());
        record[16..20].copy_from_slice(&u32::try_from(entry.name.len()).map_err(|_| Errno::IO)?.to_le_bytes());
        record[20] = file_type(entry.kind);
        record.extend_from_slice(entry.name.as_bytes());
        let room = (length - used) as usize;
        let fits = record.len().min(room);
        bytes.write(into.checked_add(used).ok_or(Errno::FAULT)?, &record[..fits])?;
        used += u32::try_from(fits).map_err(|_| Errno::IO)?;
        if fits < record.len() || used == length {
            break;
        }
    }
    Ok(used)
}

pub fn write_stat(bytes: &mut GuestBytes<'_>, into: u32, device: u64, kind: u8, stat: &Stat) -> Result<(), Errno> {
    let nanoseconds = |time: SystemTime| {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    };
    let mut record = [0; 64];
    record[..8].copy_from_slice(&device.to_le_bytes());
    record[8..16].copy_from_slice(&stat.number.to_le_bytes());
    record[16] = kind;
    record[24..32].copy_from_slice(&stat.links.to_le_bytes());
    record[32..40].copy_from_slice(&stat.size.to_le_bytes());
    record[40..48].copy_from_slice(&nanoseconds(stat.accessed).to_le_bytes());
    record[48..56].copy_from_slice(&nanoseconds(stat.modified).to_le_bytes());
    record[56..64].copy_from_slice(&nanoseconds(stat.modified).to_le_bytes());
    bytes.write(into, &record)
}
