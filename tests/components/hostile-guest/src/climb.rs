//! A script reads nothing outside its folders, whatever the path.

use crate::{argument, say, tell};
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
        tell(path, fs::read_to_string(path));
    }
    let names = fs::read_dir("/").expect("the top can be listed").flatten();
    let mut names: Vec<String> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    say(format!("top: {}", names.join(" ")));
}
