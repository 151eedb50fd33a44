//! The file descriptors of a module, and the imports that use them.

use super::abi::{ALL_RIGHTS, APPEND, CHARACTER_DEVICE, Errno, Result, file_type};
use super::{GuestMemory, paths};
use crate::files::memory::MemoryFile;
use crate::files::path::GuestPath;
use crate::files::{Entry, FileError, Handle, Kind, OpenFile, Stat};
use crate::output::Output;
use crate::state::{Preopened, ScriptState};
use bytes::Bytes;
use std::sync::Arc;
use std::time::SystemTime;
use wasmtime::Linker;

const MAX_OPEN_FILES: usize = 1024;

/// Of one read or write. The guest repeats the call for the rest, and can be stopped in between.
const MAX_CHUNK_BYTES: usize = 8 << 20;

/// The number of the first preopened folder in WASI 0.1.
const FIRST_PREOPENED: u32 = 3;

pub struct Descriptors {
    open: Vec<Option<Descriptor>>,
    preopened: &'static [Preopened],
    /// The folder being listed, with its entries as of the first call. Only one is cached.
    listing: Option<(u32, Arc<[Entry]>)>,
}

struct Descriptor {
    kind: DescriptorKind,
    position: u64,
    append: bool,
    path: GuestPath,
}

enum DescriptorKind {
    Input(Arc<dyn OpenFile>),
    Output(Output),
    Folder,
    File(Arc<dyn OpenFile>),
}

impl Descriptor {
    fn new(kind: DescriptorKind, path: GuestPath, append: bool) -> Self {
        Self { kind, position: 0, append, path }
    }
}

impl Descriptors {
    pub fn new(stdin: Bytes, stdout: Output, stderr: Output, preopened: &'static [Preopened]) -> Self {
        let output = DescriptorKind::Output;
        let streams = [DescriptorKind::Input(MemoryFile::fixed(stdin)), output(stdout), output(stderr)];
        let streams = streams.map(|kind| Descriptor::new(kind, GuestPath::default(), false));
        let folder = |(_, path): &Preopened| Descriptor::new(DescriptorKind::Folder, GuestPath::fixed(path), false);
        let open = streams.into_iter().chain(preopened.iter().map(folder)).map(Some).collect();
        Self { open, preopened, listing: None }
    }

    /// Returns the name of a preopened folder.
    fn preopened(&self, number: u32) -> Result<&'static str> {
        let index = number.checked_sub(FIRST_PREOPENED).and_then(|index| usize::try_from(index).ok());
        let name = index.and_then(|index| self.preopened.get(index)).map(|(name, _)| *name).ok_or(Errno::BADF)?;
        self.folder(number).map(|_| name).map_err(|_| Errno::BADF)
    }

    pub fn insert(&mut self, handle: Handle, append: bool) -> Result<u32> {
        let free = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        if free == MAX_OPEN_FILES {
            return Err(Errno::MFILE);
        }
        if free == self.open.len() {
            self.open.push(None);
        }
        let kind = handle.file.map_or(DescriptorKind::Folder, DescriptorKind::File);
        self.open[free] = Some(Descriptor::new(kind, handle.path, append));
        u32::try_from(free).map_err(|_| Errno::MFILE)
    }

    /// Returns the path of an open folder.
    pub fn folder(&self, number: u32) -> Result<GuestPath> {
        match self.get(number)? {
            Descriptor { kind: DescriptorKind::Folder, path, .. } => Ok(path.clone()),
            _ => Err(Errno::NOTDIR),
        }
    }

    fn get(&self, number: u32) -> Result<&Descriptor> {
        self.open.get(number as usize).and_then(Option::as_ref).ok_or(Errno::BADF)
    }

    fn get_mut(&mut self, number: u32) -> Result<&mut Descriptor> {
        self.open.get_mut(number as usize).and_then(Option::as_mut).ok_or(Errno::BADF)
    }

    fn file(&self, number: u32) -> Result<Arc<dyn OpenFile>> {
        match &self.get(number)?.kind {
            DescriptorKind::File(file) => Ok(Arc::clone(file)),
            DescriptorKind::Folder => Err(Errno::ISDIR),
            DescriptorKind::Input(_) | DescriptorKind::Output(_) => Err(Errno::SPIPE),
        }
    }
}

pub fn add_to_linker(linker: &mut Linker<ScriptState>) -> wasmtime::Result<()> {
    imports! { linker;
        fn fd_advise(_, state, fd: u32, _offset: u64, _length: u64, _advice: u32) {
            state.descriptors.get(fd).map(drop)
        }
        fn fd_allocate(_, state, fd: u32, offset: u64, length: u64) {
            let file = state.descriptors.file(fd)?;
            let end = offset.checked_add(length).ok_or(Errno::INVAL)?;
            if file.stat()?.size < end { Ok(file.set_size(end)?) } else { Ok(()) }
        }
        fn fd_close(_, state, fd: u32) {
            state.descriptors.get(fd)?;
            state.descriptors.open[fd as usize] = None;
            Ok(())
        }
        // Writes are passed to the operating system immediately; scripts need not make them durable.
        fn fd_datasync(_, state, fd: u32) {
            state.descriptors.get(fd).map(drop)
        }
        fn fd_sync(_, state, fd: u32) {
            state.descriptors.get(fd).map(drop)
        }
        fn fd_fdstat_get(memory, state, fd: u32, into: u32) {
            let descriptor = state.descriptors.get(fd)?;
            let file_type = match descriptor.kind {
                DescriptorKind::Input(_) | DescriptorKind::Output(_) => CHARACTER_DEVICE,
                DescriptorKind::Folder => file_type(Kind::Folder),
                DescriptorKind::File(_) => file_type(Kind::File),
            };
            memory.write_words(into, [file_type | (u64::from(descriptor.append) << 16), ALL_RIGHTS, ALL_RIGHTS])
        }
        fn fd_fdstat_set_flags(_, state, fd: u32, flags: u32) {
            state.descriptors.get_mut(fd)?.append = flags & APPEND != 0;
            Ok(())
        }
        fn fd_fdstat_set_rights(_, state, fd: u32, _rights: u64, _inheriting: u64) {
            state.descriptors.get(fd).map(drop)
        }
        fn fd_filestat_get(memory, state, fd: u32, into: u32) {
            let Descriptor { kind, path, .. } = state.descriptors.get(fd)?;
            let stat = match kind {
                DescriptorKind::File(file) => file.stat()?,
                DescriptorKind::Folder => Stat { kind: Kind::Folder, ..state.granted.files.stat_at(path, true)? },
                DescriptorKind::Input(_) | DescriptorKind::Output(_) => {
                    return memory.write_words(into, [0, 0, CHARACTER_DEVICE, 0, 0, 0, 0, 0]);
                }
            };
            write_stat(memory, into, state.granted.files.device(path), &stat)
        }
        fn fd_filestat_set_size(_, state, fd: u32, size: u64) {
            Ok(state.descriptors.file(fd)?.set_size(size)?)
        }
        fn fd_filestat_set_times(_, state, fd: u32, accessed: u64, modified: u64, flags: u32) {
            let path = &state.descriptors.get(fd)?.path;
            Ok(state.granted.files.touch(path, paths::new_times(accessed, modified, flags)?)?)
        }
        fn fd_prestat_get(memory, state, fd: u32, into: u32) {
            let length = u32::try_from(state.descriptors.preopened(fd)?.len()).map_err(|_| Errno::NAMETOOLONG)?;
            memory.write_u32(into, 0)?;
            memory.write_u32(into.checked_add(4).ok_or(Errno::FAULT)?, length)
        }
        fn fd_prestat_dir_name(memory, state, fd: u32, into: u32, length: u32) {
            let name = state.descriptors.preopened(fd)?.as_bytes();
            if usize::try_from(length).is_ok_and(|length| length < name.len()) {
                return Err(Errno::NAMETOOLONG);
            }
            memory.write(into, name)
        }
        fn fd_pread(memory, state, fd: u32, list: u32, count: u32, offset: u64, done: u32) {
            let file = state.descriptors.file(fd)?;
            let read = read_vectored(memory, &*file, list, count, offset)?;
            memory.write_u32(done, read)
        }
        fn fd_pwrite(memory, state, fd: u32, list: u32, count: u32, offset: u64, done: u32) {
            let file = state.descriptors.file(fd)?;
            let written = write_vectored(memory, list, count, |from, before| file.write_at(from, offset + before))?;
            memory.write_u32(done, written)
        }
        fn fd_read(memory, state, fd: u32, list: u32, count: u32, done: u32) {
            let Descriptor { kind, position, .. } = state.descriptors.get_mut(fd)?;
            let read = match kind {
                DescriptorKind::Output(_) => return Err(Errno::BADF),
                DescriptorKind::Folder => return Err(Errno::ISDIR),
                DescriptorKind::Input(file) | DescriptorKind::File(file) => read_vectored(memory, &**file, list, count, *position)?,
            };
            *position += u64::from(read);
            memory.write_u32(done, read)
        }
        fn fd_write(memory, state, fd: u32, list: u32, count: u32, done: u32) {
            let written = write(memory, state.descriptors.get_mut(fd)?, list, count)?;
            memory.write_u32(done, written)
        }
        fn fd_readdir(memory, state, fd: u32, into: u32, length: u32, cookie: u64, used: u32) {
            let written = write_entries(memory, state, fd, (into, length), cookie)?;
            memory.write_u32(used, written)
        }
        fn fd_renumber(_, state, from: u32, to: u32) {
            state.descriptors.get(from)?;
            state.descriptors.get(to)?;
            if from != to {
                state.descriptors.open[to as usize] = state.descriptors.open[from as usize].take();
            }
            Ok(())
        }
        fn fd_seek(memory, state, fd: u32, offset: i64, whence: u32, into: u32) {
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
        }
        fn fd_tell(memory, state, fd: u32, into: u32) {
            state.descriptors.file(fd)?;
            memory.write_u64(into, state.descriptors.get(fd)?.position)
        }
    }
    Ok(())
}

/// Reads into one buffer after the other, until one is not filled.
fn read_vectored(memory: &mut GuestMemory<'_>, file: &dyn OpenFile, list: u32, count: u32, offset: u64) -> Result<u32> {
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
    mut write: impl FnMut(&[u8], u64) -> Result<usize, FileError>,
) -> Result<u32> {
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

fn write(memory: &GuestMemory<'_>, descriptor: &mut Descriptor, list: u32, count: u32) -> Result<u32> {
    let file = match &descriptor.kind {
        DescriptorKind::Input(_) => return Err(Errno::BADF),
        DescriptorKind::Output(output) => {
            return write_vectored(memory, list, count, |from, _| {
                output.append(from);
                Ok(from.len())
            });
        }
        DescriptorKind::Folder => return Err(Errno::ISDIR),
        DescriptorKind::File(file) => file,
    };
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
) -> Result<u32> {
    let path = state.descriptors.folder(fd)?;
    let cached = state.descriptors.listing.take().filter(|(number, _)| *number == fd && cookie != 0);
    let entries = match cached {
        Some((_, entries)) => entries,
        None => state.granted.files.list(&path, &|| state.stop.is_due())?.into(),
    };
    state.descriptors.listing = Some((fd, Arc::clone(&entries)));
    let mut used: u32 = 0;
    let first = usize::try_from(cookie).unwrap_or(usize::MAX).min(entries.len());
    for (number, entry) in entries.iter().enumerate().skip(first) {
        let length_and_type = entry.name.len() as u64 | (file_type(entry.kind) << 32);
        let header = [number as u64 + 1, entry.number, length_and_type].map(u64::to_le_bytes);
        let record = [header.as_flattened(), entry.name.as_bytes()].concat();
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

pub fn write_stat(memory: &mut GuestMemory<'_>, into: u32, device: u64, stat: &Stat) -> Result {
    let nanoseconds = |time: SystemTime| {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    };
    let (accessed, modified) = (nanoseconds(stat.accessed), nanoseconds(stat.modified));
    let file_type = file_type(stat.kind);
    memory.write_words(into, [device, stat.number, file_type, stat.links, stat.size, accessed, modified, modified])
}
