//! The list of the archive's files as `zipimport` has it in memory, marshalled. Python reads it in a millisecond, and needs more than ten
//! for the directory of an archive with a thousand files, in every run that imports a package.

use crate::zip::{DATE, Reader, ZipError};
use crate::{ARCHIVE_FOLDER, ARCHIVE_NAME};
use std::collections::BTreeSet;

/// In each header.
const TIME: u32 = 0;

/// Makes the list for an archive, whose digest must be checked.
pub fn marshalled(archive: &[u8]) -> Result<Vec<u8>, ZipError> {
    let reader = Reader::new(archive)?;
    let mut list = vec![b'{'];
    let mut folders = BTreeSet::new();
    for (path, entry) in reader.entries() {
        put_text(&mut list, path);
        list.extend([b')', 8]);
        put_text(&mut list, &format!("/{ARCHIVE_FOLDER}/{ARCHIVE_NAME}/{path}"));
        let method = u32::from(entry.method);
        for number in [method, entry.compressed(), entry.size(), entry.at, TIME, DATE.into(), entry.checksum] {
            put_number(&mut list, number);
        }
        folders.extend(path.match_indices('/').map(|(end, _)| &path[..=end]));
    }
    for folder in folders {
        put_text(&mut list, folder);
        list.push(b'N');
    }
    list.push(b'0');
    Ok(list)
}

fn put_text(list: &mut Vec<u8>, text: &str) {
    list.push(b'u');
    list.extend(u32::try_from(text.len()).expect("paths are short").to_le_bytes());
    list.extend(text.as_bytes());
}

/// Larger numbers than a signed one of 32 bits are in digits of 15 bits.
fn put_number(list: &mut Vec<u8>, number: u32) {
    if i32::try_from(number).is_ok() {
        list.push(b'i');
        list.extend(number.to_le_bytes());
    } else {
        list.push(b'l');
        list.extend(3_u32.to_le_bytes());
        for bits in [0, 15, 30] {
            let [low, high, ..] = (number >> bits & 0x7fff).to_le_bytes();
            list.extend([low, high]);
        }
    }
}
