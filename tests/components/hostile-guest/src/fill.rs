//! `/tmp` has room for so many bytes and so many files, and is usable again once there is room.

use crate::say;
use std::fs::{self, File};
use std::io::{Error, Write as _};

/// `ENOSPC` in WASI, and `EIO`, which is all that the C library of a component says of a write that failed.
const NO_SPACE: [i32; 2] = [51, 29];

pub fn fill_with_bytes() {
    let mut file = File::create("/tmp/big").expect("an empty folder takes a file");
    let written = (0..1_000).try_for_each(|_| file.write_all(&[b'x'; 100_000]));
    told(written);
    drop(file);
    fs::remove_file("/tmp/big").expect("what is there can be removed");
    fs::write("/tmp/small", [b'x'; 1_000]).expect("there is room again");
    say(format!("room again: {}", fs::metadata("/tmp/small").expect("it was written").len()));
}

pub fn fill_with_files() {
    let made = (0..5_000).try_for_each(|number| {
        fs::create_dir(format!("/tmp/folder{number}"))?;
        File::create(format!("/tmp/file{number}")).map(drop)
    });
    told(made);
    say(format!("entries: {}", fs::read_dir("/tmp").expect("it can be listed").count()));
}

fn told(filled: Result<(), Error>) {
    match filled {
        Ok(()) => say("BROKEN: it never ended"),
        Err(error) if error.raw_os_error().is_some_and(|number| NO_SPACE.contains(&number)) => say("held: full"),
        Err(error) => say(format!("BROKEN: the error does not say why: {error:?}")),
    }
}
