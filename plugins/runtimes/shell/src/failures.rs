//! Messages of failed file operations. Scripts parse them, so they match those of other systems.

use std::borrow::Cow;
use std::io::{Error, ErrorKind};

/// Returns the error with its standard message. bashkit prints custom errors as they are, but appends to errors of the
/// host a number that is meaningless outside WASI.
pub fn with_standard_message(error: &Error) -> bashkit::Error {
    Error::new(error.kind(), standard_message(error)).into()
}

pub fn of_kind(kind: ErrorKind) -> bashkit::Error {
    with_standard_message(&Error::from(kind))
}

pub fn standard_message(error: &Error) -> Cow<'static, str> {
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
        Some((message, _)) => message.to_owned(),
        None => text,
    }
}
