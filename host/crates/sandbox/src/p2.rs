//! `wasi:filesystem` for components. A thin translation of [`super::files`].

pub mod bindings;
pub(crate) mod streams;

use crate::files::path::GuestPath;
use crate::files::{Entry, FileError, Files, Handle, Kind, NewTimes, OpenFile, OpenMode, Stat};
use crate::limits::time::Stop;
use crate::state::Preopened;
use bindings::preopens;
use bindings::types::{
    self, Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, MetadataHashValue,
    NewTimestamp, OpenFlags, PathFlags,
};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use streams::{FileInputStream, file_output, read_at};
use wasmtime::component::{HasData, Resource, ResourceTable, ResourceTableError};
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

/// Everything the `wasi:filesystem` import can reach.
pub struct FilesView<'state> {
    pub files: &'state mut Files,
    pub handles: &'state mut ResourceTable,
    /// Number of entries in all open listings.
    pub listed_entries: &'state mut usize,
    pub stop: &'state Stop,
    pub(crate) preopened: &'static [Preopened],
}

/// Tells the linker the type of the `wasi:filesystem` state.
pub struct FilesData;

impl HasData for FilesData {
    type Data<'state> = FilesView<'state>;
}

type FileHandle = Resource<Descriptor>;
type Result<T = (), E = Failure> = std::result::Result<T, E>;

/// An open file or folder.
pub struct Descriptor {
    path: GuestPath,
    /// `None` for a folder.
    file: Option<Arc<dyn OpenFile>>,
    writable: bool,
}

/// The remaining entries of a folder that is being listed.
pub struct Listing {
    entries: std::vec::IntoIter<Entry>,
    count: usize,
}

/// Of all open listings of a guest, which the host stores.
const MAX_LISTED_ENTRIES: usize = 100_000;

/// Why an import fails: an error code for the guest, or a trap because of an invalid handle.
#[derive(Debug)]
pub enum Failure {
    Code(ErrorCode),
    Trap(wasmtime::Error),
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::Code(error_code(error))
    }
}

impl From<ResourceTableError> for Failure {
    fn from(error: ResourceTableError) -> Self {
        Self::Trap(error.into())
    }
}

fn error_code(error: FileError) -> ErrorCode {
    match error {
        FileError::NotFound => ErrorCode::NoEntry,
        FileError::Exists => ErrorCode::Exist,
        FileError::NotAFolder => ErrorCode::NotDirectory,
        FileError::IsAFolder => ErrorCode::IsDirectory,
        FileError::NotEmpty => ErrorCode::NotEmpty,
        FileError::NotPermitted
        | FileError::Protected
        | FileError::Link
        | FileError::HardLink
        | FileError::TooLargeToMove
        | FileError::Escapes => ErrorCode::NotPermitted,
        FileError::ReadOnly => ErrorCode::ReadOnly,
        FileError::ThroughLink => ErrorCode::Loop,
        FileError::OtherVolume => ErrorCode::CrossDevice,
        FileError::Full => ErrorCode::InsufficientSpace,
        // There is no closer code.
        FileError::TooManyOpen => ErrorCode::Quota,
        FileError::BadPath => ErrorCode::Invalid,
        FileError::LongName => ErrorCode::NameTooLong,
        FileError::Busy => ErrorCode::Busy,
        FileError::Interrupted => ErrorCode::Interrupted,
        FileError::Failed => ErrorCode::Io,
    }
}

impl FilesView<'_> {
    fn folder(&self, handle: &FileHandle) -> Result<GuestPath> {
        let descriptor = self.handles.get(handle)?;
        match descriptor.file {
            None => Ok(descriptor.path.clone()),
            Some(_) => Err(FileError::NotAFolder.into()),
        }
    }

    fn file(&self, handle: &FileHandle) -> Result<Arc<dyn OpenFile>> {
        self.handles.get(handle)?.file.clone().ok_or(FileError::IsAFolder.into())
    }

    fn writable_file(&self, handle: &FileHandle) -> Result<Arc<dyn OpenFile>> {
        let file = self.file(handle)?;
        if self.handles.get(handle)?.writable { Ok(file) } else { Err(Failure::Code(ErrorCode::BadDescriptor)) }
    }

    fn stat_of(&self, handle: &FileHandle) -> Result<Stat> {
        let descriptor = self.handles.get(handle)?;
        Ok(match &descriptor.file {
            Some(file) => file.stat()?,
            None => self.files.stat_at(&descriptor.path, true)?,
        })
    }
}

impl preopens::Host for FilesView<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(FileHandle, String)>> {
        let open = |(name, path): &Preopened| {
            let folder = Descriptor { path: GuestPath::fixed(path), file: None, writable: false };
            Ok((self.handles.push(folder)?, (*name).to_owned()))
        };
        self.preopened.iter().map(open).collect()
    }
}

impl types::Host for FilesView<'_> {
    fn convert_error_code(&mut self, failure: Failure) -> wasmtime::Result<ErrorCode> {
        match failure {
            Failure::Code(code) => Ok(code),
            Failure::Trap(error) => Err(error),
        }
    }

    fn filesystem_error_code(&mut self, error: Resource<wasmtime::Error>) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(self.handles.get(&error)?.downcast_ref::<FileError>().map(|error| error_code(*error)))
    }
}

impl types::HostDescriptor for FilesView<'_> {
    fn read_via_stream(&mut self, handle: FileHandle, offset: u64) -> Result<Resource<DynInputStream>> {
        let stream: DynInputStream = Box::new(FileInputStream { file: self.file(&handle)?, offset });
        Ok(self.handles.push(stream)?)
    }

    fn write_via_stream(&mut self, handle: FileHandle, offset: u64) -> Result<Resource<DynOutputStream>> {
        let stream = file_output(self.writable_file(&handle)?, Some(offset));
        Ok(self.handles.push(stream)?)
    }

    fn append_via_stream(&mut self, handle: FileHandle) -> Result<Resource<DynOutputStream>> {
        let stream = file_output(self.writable_file(&handle)?, None);
        Ok(self.handles.push(stream)?)
    }

    fn advise(&mut self, handle: FileHandle, _: u64, _: u64, _: Advice) -> Result {
        Ok(self.handles.get(&handle).map(drop)?)
    }

    // Writes are passed to the operating system immediately; scripts need not make them durable.
    fn sync_data(&mut self, handle: FileHandle) -> Result {
        Ok(self.handles.get(&handle).map(drop)?)
    }

    fn sync(&mut self, handle: FileHandle) -> Result {
        Ok(self.handles.get(&handle).map(drop)?)
    }

    fn get_flags(&mut self, handle: FileHandle) -> Result<DescriptorFlags> {
        let descriptor = self.handles.get(&handle)?;
        let mut flags = DescriptorFlags::READ;
        if descriptor.file.is_none() {
            flags |= DescriptorFlags::MUTATE_DIRECTORY;
        } else if descriptor.writable {
            flags |= DescriptorFlags::WRITE;
        }
        Ok(flags)
    }

    fn get_type(&mut self, handle: FileHandle) -> Result<DescriptorType> {
        let is_file = self.handles.get(&handle)?.file.is_some();
        Ok(if is_file { DescriptorType::RegularFile } else { DescriptorType::Directory })
    }

    fn set_size(&mut self, handle: FileHandle, size: u64) -> Result {
        Ok(self.writable_file(&handle)?.set_size(size)?)
    }

    fn set_times(&mut self, handle: FileHandle, accessed: NewTimestamp, modified: NewTimestamp) -> Result {
        let path = self.handles.get(&handle)?.path.clone();
        Ok(self.files.touch(&path, new_times(accessed, modified))?)
    }

    fn read(&mut self, handle: FileHandle, length: u64, offset: u64) -> Result<(Vec<u8>, bool)> {
        let bytes = read_at(&*self.file(&handle)?, length, offset)?;
        let at_end = bytes.is_empty();
        Ok((bytes, at_end))
    }

    fn write(&mut self, handle: FileHandle, bytes: Vec<u8>, offset: u64) -> Result<u64> {
        Ok(self.writable_file(&handle)?.write_at(&bytes, offset)? as u64)
    }

    fn read_directory(&mut self, handle: FileHandle) -> Result<Resource<Listing>> {
        let entries = self.files.list(&self.folder(&handle)?, &|| self.stop.is_due())?;
        let count = entries.len();
        if *self.listed_entries + count > MAX_LISTED_ENTRIES {
            return Err(FileError::TooManyOpen.into());
        }
        let listing = self.handles.push(Listing { entries: entries.into_iter(), count })?;
        *self.listed_entries += count;
        Ok(listing)
    }

    fn create_directory_at(&mut self, handle: FileHandle, path: String) -> Result {
        Ok(self.files.create_folder(&self.folder(&handle)?, &path)?)
    }

    fn stat(&mut self, handle: FileHandle) -> Result<DescriptorStat> {
        Ok(descriptor_stat(&self.stat_of(&handle)?))
    }

    fn stat_at(&mut self, handle: FileHandle, flags: PathFlags, path: String) -> Result<DescriptorStat> {
        let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
        Ok(descriptor_stat(&self.files.stat(&self.folder(&handle)?, &path, follow)?))
    }

    fn set_times_at(
        &mut self,
        handle: FileHandle,
        _: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> Result {
        let times = new_times(accessed, modified);
        Ok(self.files.set_times(&self.folder(&handle)?, &path, times)?)
    }

    fn link_at(&mut self, _: FileHandle, _: PathFlags, _: String, folder: FileHandle, path: String) -> Result {
        Err(self.files.refuse_link(&self.folder(&folder)?, &path).into())
    }

    fn symlink_at(&mut self, folder: FileHandle, _: String, path: String) -> Result {
        Err(self.files.refuse_link(&self.folder(&folder)?, &path).into())
    }

    fn open_at(
        &mut self,
        handle: FileHandle,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> Result<FileHandle> {
        let from = self.folder(&handle)?;
        let mode = OpenMode {
            write: flags.contains(DescriptorFlags::WRITE),
            create: open_flags.contains(OpenFlags::CREATE),
            exclusive: open_flags.contains(OpenFlags::EXCLUSIVE),
            truncate: open_flags.contains(OpenFlags::TRUNCATE),
            folder: open_flags.contains(OpenFlags::DIRECTORY),
            follow: path_flags.contains(PathFlags::SYMLINK_FOLLOW),
        };
        let Handle { path, file } = self.files.open(&from, &path, mode)?;
        Ok(self.handles.push(Descriptor { path, file, writable: mode.write })?)
    }

    fn readlink_at(&mut self, handle: FileHandle, path: String) -> Result<String> {
        Ok(self.files.read_link(&self.folder(&handle)?, &path)?)
    }

    fn remove_directory_at(&mut self, handle: FileHandle, path: String) -> Result {
        Ok(self.files.remove_folder(&self.folder(&handle)?, &path)?)
    }

    fn rename_at(&mut self, from: FileHandle, old: String, to: FileHandle, new: String) -> Result {
        let (from, to) = (self.folder(&from)?, self.folder(&to)?);
        Ok(self.files.rename((&from, &old), (&to, &new), &|| self.stop.is_due())?)
    }

    fn unlink_file_at(&mut self, handle: FileHandle, path: String) -> Result {
        Ok(self.files.remove_file(&self.folder(&handle)?, &path)?)
    }

    fn is_same_object(&mut self, one: FileHandle, other: FileHandle) -> wasmtime::Result<bool> {
        Ok(matches!((self.metadata_hash(one), self.metadata_hash(other)), (Ok(one), Ok(other))
            if (one.lower, one.upper) == (other.lower, other.upper)))
    }

    fn metadata_hash(&mut self, handle: FileHandle) -> Result<MetadataHashValue> {
        let upper = self.files.device(&self.handles.get(&handle)?.path);
        Ok(MetadataHashValue { lower: self.stat_of(&handle)?.number, upper })
    }

    fn metadata_hash_at(&mut self, handle: FileHandle, flags: PathFlags, path: String) -> Result<MetadataHashValue> {
        let from = self.folder(&handle)?;
        let stat = self.files.stat(&from, &path, flags.contains(PathFlags::SYMLINK_FOLLOW))?;
        Ok(MetadataHashValue { lower: stat.number, upper: self.files.device(&from.join(&path)?.path) })
    }

    fn drop(&mut self, handle: FileHandle) -> wasmtime::Result<()> {
        self.handles.delete(handle)?;
        Ok(())
    }
}

impl types::HostDirectoryEntryStream for FilesView<'_> {
    fn read_directory_entry(&mut self, listing: Resource<Listing>) -> Result<Option<DirectoryEntry>> {
        let next = self.handles.get_mut(&listing)?.entries.next();
        Ok(next.map(|entry| DirectoryEntry { type_: descriptor_type(entry.kind), name: entry.name }))
    }

    fn drop(&mut self, listing: Resource<Listing>) -> wasmtime::Result<()> {
        *self.listed_entries -= self.handles.delete(listing)?.count;
        Ok(())
    }
}

fn descriptor_type(kind: Kind) -> DescriptorType {
    match kind {
        Kind::Folder => DescriptorType::Directory,
        Kind::File => DescriptorType::RegularFile,
        Kind::Link => DescriptorType::SymbolicLink,
        Kind::Other => DescriptorType::Unknown,
    }
}

fn descriptor_stat(stat: &Stat) -> DescriptorStat {
    let time = |time: SystemTime| {
        let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Some(Datetime { seconds: since.as_secs(), nanoseconds: since.subsec_nanos() })
    };
    DescriptorStat {
        type_: descriptor_type(stat.kind),
        link_count: stat.links,
        size: stat.size,
        data_access_timestamp: time(stat.accessed),
        data_modification_timestamp: time(stat.modified),
        status_change_timestamp: time(stat.modified),
    }
}

fn new_times(accessed: NewTimestamp, modified: NewTimestamp) -> NewTimes {
    let time = |time| match time {
        NewTimestamp::NoChange => None,
        NewTimestamp::Now => Some(SystemTime::now()),
        NewTimestamp::Timestamp(Datetime { seconds, nanoseconds }) => {
            SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds % 1_000_000_000))
        }
    };
    NewTimes { accessed: time(accessed), modified: time(modified) }
}
