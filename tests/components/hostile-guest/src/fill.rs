//! `/tmp` is limited in bytes and files, and usable again once there is space.

use crate::print;
use std::fs::{self, File};
use std::io::{Error, Write as _};

/// `ENOSPC` in WASI, and `EIO`, which the C library of a component reports for every failed write.
const NO_SPACE: [i32; 2] = [51, 29];

pub fn fill_with_bytes() {
    let mut file = File::create("/tmp/big").expect("the folder is empty");
    let written = (0..1_000).try_for_each(|_| file.write_all(&[b'x'; 100_000]));
    print_result(written);
    drop(file);
    fs::remove_file("/tmp/big").expect("the file can be removed");
    fs::write("/tmp/small", [b'x'; 1_000]).expect("there is space again");
    print(format!("room again: {}", fs::metadata("/tmp/small").expect("the file was written").len()));
}

pub fn fill_with_files() {
    let created = (0..5_000).try_for_each(|number| {
        fs::create_dir(format!("/tmp/folder{number}"))?;
        File::create(format!("/tmp/file{number}")).map(drop)
    });
    print_result(created);
    print(format!("entries: {}", fs::read_dir("/tmp").expect("the folder can be listed").count()));
}

fn print_result(result: Result<(), Error>) {
    match result {
        Ok(()) => print("BROKEN: there is no limit"),
        Err(error) if error.raw_os_error().is_some_and(|number| NO_SPACE.contains(&number)) => print("held: full"),
        Err(error) => print(format!("BROKEN: the error does not say why: {error:?}")),
    }
}
