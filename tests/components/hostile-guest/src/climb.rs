//! A script cannot read outside its folders, whatever the path.

use crate::{argument, print, report};
use std::fs;

pub fn climb() {
    let secret = argument("SECRET");
    for path in [
        "/etc/shadow",
        "//etc/shadow",
        "/proc/self/environ",
        "/dev/mem",
        "../secret.txt",
        "../../secret.txt",
        "/skill/../secret.txt",
        "/skill/../../secret.txt",
        "/skill/scripts/../../../secret.txt",
        "/tmp/../../../etc/shadow",
        "/work/../secret.txt",
        "/skill/\0/../../secret.txt",
        &secret,
    ] {
        report(path, fs::read_to_string(path));
    }
    let names = fs::read_dir("/").expect("the root folder can be listed").flatten();
    let mut names: Vec<String> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    print(format!("top: {}", names.join(" ")));
}
