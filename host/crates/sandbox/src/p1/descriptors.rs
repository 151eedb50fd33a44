//! The file descriptors of a module, and the imports that use them.

use super::abi::{ALL_RIGHTS, APPEND, CHARACTER_DEVICE, Errno, file_type};
use super::{GuestMemory, MODULE, paths, with};
use crate::files::path::GuestPath;
use crate::files::{Entry, Handle, Kind, OpenFile, OpenNode, Stat};
use crate::state::ScriptState;
use std::sync::Arc;
use std::time::SystemTime;
use wasmtime::{Caller, Linker};

const MAX_OPEN_FILES: usize = 1024;

/// Of one read or write. The guest repeats the call for the rest, and can be stopped in between.
const MAX_CHUNK_BYTES: usize = 8 << 20;

/// The first preopened folder, which has this number in WASI 0.1.
const ROOT_FD: u32 = 3;

pub struct Descriptors {
    open: Vec<Option<Descriptor>>,
    /// The folder being listed, with its entries as of the first call. Only one is cached.
    listing: Option<(u32, Arc<[Entry]>)>,
}

pub struct Descriptor {
    pub kind: DescriptorKind,
    position: u64,
    append: bool,
    path: GuestPath,
}

pub enum DescriptorKind {
    Input,
    Output,
    Error,
    Folder,
    File(Arc<dyn OpenFile>),
}

impl Default for Descriptors {
    fn default() -> Self {
        let initial = [DescriptorKind::Input, DescriptorKind::Output, DescriptorKind::Error, DescriptorKind::Folder];
        let open = initial.into_iter().map(|kind| Some(Descriptor::new(kind, GuestPath::default(), false))).collect();
        Self { open, listing: None }
    }
}

impl Descriptor {
    fn new(kind: DescriptorKind, path: GuestPath, append: bool) -> Self {
        Self { kind, position: 0, append, path }
    }
}

impl Descriptors {
    pub fn insert(&mut self, handle: Handle, append: bool) -> Result<u32, Errno> {
        let kind = match handle.node {
            OpenNode::Folder => DescriptorKind::Folder,
            OpenNode::File(file) => DescriptorKind::File(file),
        };
        let descriptor = Some(Descriptor::new(kind, handle.path, append));
        let free = self.open.iter().position(Option::is_none);
        let number = match free {
            Some(number) => {
                self.open[number] = descriptor;
                number
            }
            None if self.open.len() < MAX_OPEN_FILES => {
                self.open.push(descriptor);
                self.open.len() - 1
            }
            None => return Err(Errno::MFILE),
        };
        u32::try_from(number).map_err(|_| Errno::MFILE)
    }

    /// Returns the path of an open folder.
    pub fn folder(&self, number: u32) -> Result<GuestPath, Errno> {
        match self.get(number)? {
            Descriptor { kind: DescriptorKind::Folder, path, .. } => Ok(path.clone()),
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
        match &self.get(number)?.kind {
            DescriptorKind::File(file) => Ok(Arc::clone(file)),
            DescriptorKind::Folder => Err(Errno::ISDIR),
            DescriptorKind::Input | DescriptorKind::Output | DescriptorKind::Error => Err(Errno::SPIPE),
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
        // Writes are passed to the operating system immediately; scripts need not make them durable.
        linker.func_wrap(MODULE, name, |mut call: Call<'_>, fd: u32| {
            with(&mut call, |_, state| state.descriptors.get(fd).map(drop))
        })?;
    }
    linker.func_wrap(MODULE, "fd_fdstat_get", |mut call: Call<'_>, fd: u32, into: u32| {
        with(&mut call, |memory, state| write_fdstat(memory, state, fd, into))
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
        with(&mut call, |memory, state| {
            let Descriptor { kind, path, .. } = state.descriptors.get(fd)?;
            let device = state.files.device(path);
            match kind {
                DescriptorKind::File(file) => write_stat(memory, into, device, file_type(Kind::File), &file.stat()?),
                DescriptorKind::Folder => {
                    write_stat(memory, into, device, file_type(Kind::Folder), &state.files.stat_at(path, true)?)
                }
                DescriptorKind::Input | DescriptorKind::Output | DescriptorKind::Error => {
                    memory.write(into, &[0; 64])?;
                    memory.write(into + 16, &[CHARACTER_DEVICE])
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
        with(&mut call, |memory, state| match state.descriptors.get(fd)?.kind {
            DescriptorKind::Folder if fd == ROOT_FD => memory.write(into, &[0, 0, 0, 0, 1, 0, 0, 0]),
            _ => Err(Errno::BADF),
        })
    })?;
    linker.func_wrap(MODULE, "fd_prestat_dir_name", |mut call: Call<'_>, fd: u32, into: u32, length: u32| {
        with(&mut call, |memory, _| match (fd, length) {
            (ROOT_FD, 1..) => memory.write(into, b"/"),
            (ROOT_FD, 0) => Err(Errno::NAMETOOLONG),
            _ => Err(Errno::BADF),
        })
    })?;
    linker.func_wrap(
        MODULE,
        "fd_pread",
        |mut call: Call<'_>, fd: u32, list: u32, count: u32, offset: u64, done: u32| {
            with(&mut call, |memory, state| {
                let file = state.descriptors.file(fd)?;
                let read = read_vectored(memory, &*file, list, count, offset)?;
                memory.write_u32(done, read)
            })
        },
    )?;
    linker.func_wrap(
        MODULE,
        "fd_pwrite",
        |mut call: Call<'_>, fd: u32, list: u32, count: u32, offset: u64, done: u32| {
            with(&mut call, |memory, state| {
                let file = state.descriptors.file(fd)?;
                let written = write_vectored(memory, list, count, |from, before| file.write_at(from, offset + before))?;
                memory.write_u32(done, written)
            })
        },
    )?;
    linker.func_wrap(MODULE, "fd_read", |mut call: Call<'_>, fd: u32, list: u32, count: u32, done: u32| {
        with(&mut call, |memory, state| {
            if matches!(state.descriptors.get(fd)?.kind, DescriptorKind::Input) {
                return memory.write_u32(done, 0);
            }
            let file =
                state.descriptors.file(fd).map_err(|error| if error == Errno::SPIPE { Errno::BADF } else { error })?;
            let descriptor = state.descriptors.get_mut(fd)?;
            let read = read_vectored(memory, &*file, list, count, descriptor.position)?;
            descriptor.position += u64::from(read);
            memory.write_u32(done, read)
        })
    })?;
    linker.func_wrap(MODULE, "fd_write", |mut call: Call<'_>, fd: u32, list: u32, count: u32, done: u32| {
        with(&mut call, |memory, state| {
            let written = write(memory, state, fd, list, count)?;
            memory.write_u32(done, written)
        })
    })?;
    linker.func_wrap(
        MODULE,
        "fd_readdir",
        |mut call: Call<'_>, fd: u32, into: u32, length: u32, cookie: u64, used: u32| {
            with(&mut call, |memory, state| {
                let written = write_entries(memory, state, fd, (into, length), cookie)?;
                memory.write_u32(used, written)
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
        with(&mut call, |memory, state| {
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
            memory.write_u64(into, descriptor.position)
        })
    })?;
    linker.func_wrap(MODULE, "fd_tell", |mut call: Call<'_>, fd: u32, into: u32| {
        with(&mut call, |memory, state| {
            state.descriptors.file(fd)?;
            memory.write_u64(into, state.descriptors.get(fd)?.position)
        })
    })?;
    Ok(())
}

fn write_fdstat(memory: &mut GuestMemory<'_>, state: &ScriptState, fd: u32, into: u32) -> Result<(), Errno> {
    let descriptor = state.descriptors.get(fd)?;
    let file_type = match descriptor.kind {
        DescriptorKind::Input | DescriptorKind::Output | DescriptorKind::Error => CHARACTER_DEVICE,
        DescriptorKind::Folder => file_type(Kind::Folder),
        DescriptorKind::File(_) => file_type(Kind::File),
    };
    memory.write(into, &[0; 24])?;
    memory.write(into, &[file_type])?;
    memory.write(into + 2, &[u8::from(descriptor.append)])?;
    memory.write_u64(into + 8, ALL_RIGHTS)?;
    memory.write_u64(into + 16, ALL_RIGHTS)
}

/// Reads into one buffer after the other, until one is not filled.
fn read_vectored(
    memory: &mut GuestMemory<'_>,
    file: &dyn OpenFile,
    list: u32,
    count: u32,
    offset: u64,
) -> Result<u32, Errno> {
    let mut read: u32 = 0;
    for (start, length) in memory.buffers(list, count)? {
        let into = memory.slice_mut(start, length.min(u32::MAX >> 9))?;
        let got = file.read_at(into, offset.checked_add(u64::from(read)).ok_or(Errno::INVAL)?)?;
        read += u32::try_from(got).map_err(|_| Errno::IO)?;
        if got < length as usize || read as usize >= MAX_CHUNK_BYTES {
            break;
        }
    }
    Ok(read)
}

/// Writes one buffer after the other. `write` gets each with the number of bytes before it.
fn write_vectored(
    memory: &GuestMemory<'_>,
    list: u32,
    count: u32,
    mut write: impl FnMut(&[u8], u64) -> Result<usize, crate::files::FileError>,
) -> Result<u32, Errno> {
    let mut written: usize = 0;
    for (start, length) in memory.buffers(list, count)? {
        let from = memory.slice(start, length)?;
        let from = &from[..from.len().min(MAX_CHUNK_BYTES)];
        match write(from, written as u64) {
            Ok(count) => written += count,
            Err(error) if written == 0 => return Err(error.into()),
            Err(_) => break,
        }
        if written >= MAX_CHUNK_BYTES || from.len() < length as usize {
            break;
        }
    }
    u32::try_from(written).map_err(|_| Errno::IO)
}

fn write(memory: &GuestMemory<'_>, state: &mut ScriptState, fd: u32, list: u32, count: u32) -> Result<u32, Errno> {
    let output = match &state.descriptors.get(fd)?.kind {
        DescriptorKind::Output => Some(&state.stdout),
        DescriptorKind::Error => Some(&state.stderr),
        DescriptorKind::Input => return Err(Errno::BADF),
        DescriptorKind::Folder | DescriptorKind::File(_) => None,
    };
    if let Some(output) = output {
        return write_vectored(memory, list, count, |from, _| {
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
    let written = write_vectored(memory, list, count, |from, before| file.write_at(from, position + before))?;
    descriptor.position += u64::from(written);
    Ok(written)
}

/// Writes the entries of a folder, each after a header of 24 bytes. The last may be truncated; the guest then repeats the
/// call with a larger buffer.
fn write_entries(
    memory: &mut GuestMemory<'_>,
    state: &mut ScriptState,
    fd: u32,
    (into, length): (u32, u32),
    cookie: u64,
) -> Result<u32, Errno> {
    let path = state.descriptors.folder(fd)?;
    let cached = state.descriptors.listing.take().filter(|(number, _)| *number == fd && cookie != 0);
    let entries = match cached {
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
        let available = (length - used) as usize;
        let written = record.len().min(available);
        memory.write(into.checked_add(used).ok_or(Errno::FAULT)?, &record[..written])?;
        used += u32::try_from(written).map_err(|_| Errno::IO)?;
        if written < record.len() || used == length {
            break;
        }
    }
    Ok(used)
}

pub fn write_stat(memory: &mut GuestMemory<'_>, into: u32, device: u64, kind: u8, stat: &Stat) -> Result<(), Errno> {
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
    memory.write(into, &record)
}
