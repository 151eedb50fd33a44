//! What a failed file operation is called. Scripts read these words, so they are those of other systems.

use std::borrow::Cow;
use std::io::{Error, ErrorKind};

/// The same failure with the usual words. bashkit prints an error of its own text as it is, and one of the host with a
/// number behind it that means nothing outside of WASI.
pub fn in_usual_words(error: &Error) -> bashkit::Error {
    Error::new(error.kind(), words(error)).into()
}

pub fn of_kind(kind: ErrorKind) -> bashkit::Error {
    in_usual_words(&Error::from(kind))
}

pub fn words(error: &Error) -> Cow<'static, str> {
    Cow::Borrowed(match error.kind() {
        ErrorKind::NotFound => "No such file or directory",
        ErrorKind::ReadOnlyFilesystem => "Read-only file system",
        ErrorKind::PermissionDenied => "Permission denied",
        ErrorKind::AlreadyExists => "File exists",
        ErrorKind::IsADirectory => "Is a directory",
        ErrorKind::NotADirectory => "Not a directory",
        ErrorKind::DirectoryNotEmpty => "Directory not empty",
        ErrorKind::StorageFull => "No space left on device",
        ErrorKind::QuotaExceeded => "Disk quota exceeded",
        ErrorKind::FileTooLarge => "File too large",
        ErrorKind::InvalidFilename => "File name too long",
        ErrorKind::CrossesDevices => "Invalid cross-device link",
        _ => return Cow::Owned(without_number(error)),
    })
}

fn without_number(error: &Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error ") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}
