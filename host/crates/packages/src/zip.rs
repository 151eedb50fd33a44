//! Zip archives: a strict reader for foreign ones, and a writer whose output depends only on the files.
//!
//! The reader accepts what tools that build wheels write, and nothing that two readers could understand differently: no entry twice, no
//! gaps that hide one, no names that climb, no links, no encryption, no ZIP64.

use miniz_oxide::inflate::decompress_to_vec_with_limit;
use std::collections::BTreeMap;
use std::ops::Range;

/// Entries of one archive.
const MAX_ENTRIES: usize = 20_000;

/// Of one file, and of all files of an archive, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;
const MAX_TOTAL_BYTES: u64 = 256 << 20;

/// Files may be this many times as large as the archive. Packages with tables of text reach ten times.
const MAX_RATIO: u64 = 100;

/// Of a path, in bytes, and of one name in it.
const MAX_PATH_BYTES: usize = 1024;
const MAX_NAME_BYTES: usize = 255;
const MAX_DEPTH: usize = 32;

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";
const LOCAL_BYTES: usize = 30;
const CENTRAL_BYTES: usize = 46;
const END_BYTES: usize = 22;

const STORED: u16 = 0;
const DEFLATED: u16 = 8;
const ENCRYPTED: u16 = 1;
const UTF8: u16 = 1 << 11;

/// The first day of 1980, the earliest date of the format.
pub const DATE: u16 = (1 << 5) | 1;

/// Compression of the archives that are written.
const LEVEL: u8 = 6;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ZipError {
    #[error("it is not a zip archive, or is cut off")]
    NotAZip,
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    #[error("`{}` cannot be in a package: {reason}", path.escape_debug())]
    Path { path: String, reason: &'static str },
    #[error("`{}` and `{}` would be the same file", one.escape_debug(), other.escape_debug())]
    Collision { one: String, other: String },
    #[error("it would unpack to more than {0}")]
    TooLarge(String),
    #[error("`{}` is damaged", .0.escape_debug())]
    Content(String),
}

/// A checked list of files, which can be read.
#[derive(Debug)]
pub struct Reader<'bytes> {
    bytes: &'bytes [u8],
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug)]
pub struct Entry {
    /// Where its header is.
    pub at: u32,
    data: Range<usize>,
    size: u32,
    pub method: u16,
    pub checksum: u32,
}

impl Entry {
    /// In the archive, in bytes.
    pub fn compressed(&self) -> u32 {
        u32::try_from(self.data.len()).expect("it was read from 32 bits")
    }

    /// In bytes.
    pub fn size(&self) -> u32 {
        self.size
    }
}

impl<'bytes> Reader<'bytes> {
    pub fn new(bytes: &'bytes [u8]) -> Result<Self, ZipError> {
        let (start, count) = find_end(bytes)?;
        let mut rest = &bytes[start..];
        let mut entries = BTreeMap::new();
        let mut ranges = Vec::new();
        let mut total = 0;
        for _ in 0..count {
            let header = take(&mut rest, CENTRAL_BYTES).ok_or(ZipError::NotAZip)?;
            if header[..4] != CENTRAL {
                return Err(ZipError::NotAZip);
            }
            let (flags, method) = (short(header, 8), short(header, 10));
            let lengths = [short(header, 28), short(header, 30), short(header, 32)].map(usize::from);
            let [name, _extra, _comment] = lengths.map(|length| take(&mut rest, length));
            let name = name.ok_or(ZipError::NotAZip)?;
            let path = std::str::from_utf8(name).ok().filter(|path| flags & UTF8 != 0 || path.is_ascii());
            let path = path.ok_or(ZipError::Damaged("the name of a file is not UTF-8"))?;
            let refuse = |reason| ZipError::Path { path: path.to_owned(), reason };
            if flags & ENCRYPTED != 0 {
                return Err(refuse("it is encrypted"));
            }
            if !matches!(method, STORED | DEFLATED) {
                return Err(refuse("its compression is not supported"));
            }
            let (compressed, size) = (long(header, 20), long(header, 24));
            let data = data_of(bytes, start, header, name, compressed)?;
            ranges.push((long(header, 42), data.end));
            // The kind of a file on Unix: none is given, a folder or a regular file.
            let kind = long(header, 38) >> 28;
            if let Some(folder) = path.strip_suffix('/') {
                check_path(folder).map_err(refuse)?;
                if size != 0 || !matches!(kind, 0 | 4) {
                    return Err(refuse("it is a folder with content"));
                }
                continue;
            }
            if !matches!(kind, 0 | 8) {
                return Err(refuse("it is a link or a special file"));
            }
            check_path(path).map_err(refuse)?;
            total += u64::from(size);
            if u64::from(size) > MAX_FILE_BYTES || total > MAX_TOTAL_BYTES {
                return Err(ZipError::TooLarge(format!("{} MiB", MAX_TOTAL_BYTES >> 20)));
            }
            let entry = Entry { at: long(header, 42), data, size, method, checksum: long(header, 16) };
            if entries.insert(path.to_owned(), entry).is_some() {
                return Err(ZipError::Collision { one: path.to_owned(), other: path.to_owned() });
            }
        }
        if total > MAX_RATIO * bytes.len() as u64 {
            return Err(ZipError::TooLarge(format!("{MAX_RATIO} times its size")));
        }
        if rest.len() < END_BYTES || rest[..4] != END {
            return Err(ZipError::Damaged("there is something between its directory and its end"));
        }
        check_overlaps(ranges)?;
        check_collisions(entries.keys().map(String::as_str))?;
        Ok(Self { bytes, entries })
    }

    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(path, entry)| (path.as_str(), entry))
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    pub fn contains(&self, path: &str) -> bool {
        self.entries.contains_key(path)
    }

    /// Returns the bytes of a file, if there is one.
    pub fn read(&self, path: &str) -> Result<Option<Vec<u8>>, ZipError> {
        let Some(Entry { data, size, method, checksum, .. }) = self.entries.get(path) else { return Ok(None) };
        let size = *size as usize;
        let data = &self.bytes[data.clone()];
        let content = if *method == STORED {
            Some(data.to_vec())
        } else {
            // One byte of room shows that there is more than announced.
            decompress_to_vec_with_limit(data, size + 1).ok()
        };
        let is_sound = |content: &Vec<u8>| content.len() == size && crc32fast::hash(content) == *checksum;
        content.filter(is_sound).map(Some).ok_or_else(|| ZipError::Content(path.to_owned()))
    }
}

/// Finds the end record, which must be the last thing in the file. Returns where the directory starts, and its number of entries.
fn find_end(bytes: &[u8]) -> Result<(usize, usize), ZipError> {
    let last = bytes.len().checked_sub(END_BYTES).ok_or(ZipError::NotAZip)?;
    let first = last.saturating_sub(usize::from(u16::MAX));
    let is_end = |at: &usize| {
        let record = &bytes[*at..];
        record[..4] == END && usize::from(short(record, 20)) == record.len() - END_BYTES
    };
    let end = (first..=last).rev().find(is_end).ok_or(ZipError::NotAZip)?;
    let record = &bytes[end..];
    let (here, count) = (short(record, 8), short(record, 10));
    let (size, start) = (long(record, 12) as usize, long(record, 16) as usize);
    if short(record, 4) != 0 || short(record, 6) != 0 || here != count || start.checked_add(size) != Some(end) {
        return Err(ZipError::Damaged("its end does not fit its directory, or it needs ZIP64"));
    }
    if usize::from(count) > MAX_ENTRIES {
        return Err(ZipError::TooLarge(format!("{MAX_ENTRIES} files")));
    }
    Ok((start, count.into()))
}

/// Finds the data of an entry behind its local header, which must agree with the directory.
fn data_of(
    bytes: &[u8],
    directory: usize,
    header: &[u8],
    name: &[u8],
    compressed: u32,
) -> Result<Range<usize>, ZipError> {
    let differs = ZipError::Damaged("its directory and its files do not agree");
    let at = long(header, 42) as usize;
    let local = bytes[..directory].get(at..).filter(|local| local.len() >= LOCAL_BYTES && local[..4] == LOCAL);
    let local = local.ok_or(ZipError::NotAZip)?;
    let name_end = LOCAL_BYTES + usize::from(short(local, 26));
    if local.get(LOCAL_BYTES..name_end) != Some(name) || short(local, 8) != short(header, 10) {
        return Err(differs);
    }
    let start = at + name_end + usize::from(short(local, 28));
    let end = start.checked_add(compressed as usize).filter(|end| *end <= directory).ok_or(ZipError::NotAZip)?;
    if short(header, 10) == STORED && compressed != long(header, 24) {
        return Err(differs);
    }
    Ok(start..end)
}

/// Refuses files that share bytes, which make an archive unpack to many times its size.
fn check_overlaps(mut ranges: Vec<(u32, usize)>) -> Result<(), ZipError> {
    ranges.sort_unstable();
    let overlap = ranges.windows(2).any(|pair| pair[0].1 > pair[1].0 as usize);
    if overlap { Err(ZipError::Damaged("its files overlap")) } else { Ok(()) }
}

/// Returns why a path cannot be in an archive.
fn check_path(path: &str) -> Result<(), &'static str> {
    if path.len() > MAX_PATH_BYTES || path.split('/').any(|name| name.len() > MAX_NAME_BYTES) {
        return Err("its name is too long");
    }
    if path.starts_with('/') || path.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return Err("its path is absolute, or leaves the package");
    }
    if path.contains(['\\', ':']) || path.chars().any(char::is_control) {
        return Err("its name contains a backslash, a colon or a control character");
    }
    if path.split('/').count() > MAX_DEPTH { Err("it is nested too deeply") } else { Ok(()) }
}

/// Refuses paths that are equal apart from case, and files that are also folders.
pub fn check_collisions<'path>(paths: impl Iterator<Item = &'path str>) -> Result<(), ZipError> {
    let mut files: BTreeMap<String, &str> = BTreeMap::new();
    let mut folders: BTreeMap<String, &str> = BTreeMap::new();
    for path in paths {
        let folded = path.to_lowercase();
        for (end, _) in folded.match_indices('/') {
            folders.entry(folded[..end].to_owned()).or_insert(path);
        }
        if let Some(other) = files.insert(folded, path) {
            return Err(ZipError::Collision { one: other.to_owned(), other: path.to_owned() });
        }
    }
    match files.iter().find_map(|(file, path)| Some((path, folders.get(file)?))) {
        Some((one, other)) => Err(ZipError::Collision { one: (*one).to_owned(), other: (*other).to_owned() }),
        None => Ok(()),
    }
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Writes an archive. Equal files make equal archives. `None` if they are too large for the format.
pub fn write(files: &BTreeMap<String, impl AsRef<[u8]>>) -> Option<Vec<u8>> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for (path, content) in files {
        let content = content.as_ref();
        let at = u32::try_from(archive.len()).ok()?;
        let compressed = miniz_oxide::deflate::compress_to_vec(content, LEVEL);
        let (method, data) =
            if compressed.len() < content.len() { (DEFLATED, &compressed[..]) } else { (STORED, content) };
        let mut common = Vec::new();
        // Version 2.0, which folders and compression need.
        common.extend(20_u16.to_le_bytes());
        common.extend(UTF8.to_le_bytes());
        common.extend(method.to_le_bytes());
        common.extend(0_u16.to_le_bytes());
        common.extend(DATE.to_le_bytes());
        common.extend(crc32fast::hash(content).to_le_bytes());
        common.extend(u32::try_from(data.len()).ok()?.to_le_bytes());
        common.extend(u32::try_from(content.len()).ok()?.to_le_bytes());
        common.extend(u16::try_from(path.len()).ok()?.to_le_bytes());
        common.extend(0_u16.to_le_bytes());
        archive.extend(LOCAL);
        archive.extend(&common);
        archive.extend(path.as_bytes());
        archive.extend(data);
        directory.extend(CENTRAL);
        directory.extend(20_u16.to_le_bytes());
        directory.extend(&common);
        // No comment, first disk, no attributes.
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(path.as_bytes());
    }
    let (start, size) = (u32::try_from(archive.len()).ok()?, u32::try_from(directory.len()).ok()?);
    let count = u16::try_from(files.len()).ok()?.to_le_bytes();
    archive.extend(directory);
    archive.extend(END);
    archive.extend([0; 4]);
    archive.extend([count, count].concat());
    archive.extend(size.to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend([0; 2]);
    Some(archive)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that cannot be compressed.
    fn noise(count: usize) -> Vec<u8> {
        let mut seed = 7_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed.to_be_bytes()[0]
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let files = BTreeMap::from([
            ("a/b.py".to_owned(), b"x = 1\n".repeat(100)),
            ("empty".to_owned(), Vec::new()),
            ("noise é".to_owned(), noise(5000)),
        ]);
        let archive = write(&files).unwrap();
        assert_eq!(archive, write(&files).unwrap());
        let reader = Reader::new(&archive).unwrap();
        assert_eq!(reader.paths().collect::<Vec<_>>(), ["a/b.py", "empty", "noise é"]);
        for (path, content) in &files {
            assert_eq!(reader.read(path), Ok(Some(content.clone())));
        }
        assert_eq!(reader.read("other"), Ok(None));
        for at in 0..archive.len() {
            let mut changed = archive.clone();
            changed[at] ^= 0x55;
            // Whatever it does, it does not panic; and content is what the checksum says.
            let Ok(reader) = Reader::new(&changed) else { continue };
            for path in reader.paths() {
                let is_known = |content: Option<Vec<u8>>| {
                    content.is_none_or(|content| files.values().any(|known| *known == content))
                };
                assert!(reader.read(path).is_err() || reader.read(path).is_ok_and(is_known), "{path} after {at}");
            }
        }
    }

    #[test]
    fn files_that_share_bytes_are_refused() {
        // The content of `a` contains `b` with its header, and the directory says that `b` is there.
        let inner = write(&BTreeMap::from([("b".to_owned(), noise(50))])).unwrap();
        let outer =
            BTreeMap::from([("a".to_owned(), [&inner, &noise(3000)[50..]].concat()), ("b".to_owned(), noise(50))]);
        let mut archive = write(&outer).unwrap();
        assert!(Reader::new(&archive).is_ok());
        let entry = archive.len() - END_BYTES - CENTRAL_BYTES - 1;
        let at = u32::try_from(LOCAL_BYTES + 1).unwrap();
        archive[entry + 42..entry + 46].copy_from_slice(&at.to_le_bytes());
        assert_eq!(Reader::new(&archive).unwrap_err(), ZipError::Damaged("its files overlap"));
    }
}
