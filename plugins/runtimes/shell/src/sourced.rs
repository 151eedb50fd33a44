//! Tracks which file is about to be read as a script, and not as data.
//!
//! bashkit reads both in the same way. Calls of `source` or `bash` are announced just before.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

static ANNOUNCED: Mutex<Option<String>> = Mutex::new(None);

/// Expects a file with the last segment of this path to be read next.
pub fn announce(file: &str) {
    let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
    *ANNOUNCED.lock().unwrap_or_else(PoisonError::into_inner) = name;
}

/// Whether this file was announced. Clears the announcement.
pub fn is_expected(path: &Path) -> bool {
    let mut announced = ANNOUNCED.lock().unwrap_or_else(PoisonError::into_inner);
    let expected = announced.as_deref().is_some_and(|name| path.file_name().is_some_and(|found| found == name));
    if expected {
        *announced = None;
    }
    expected
}
