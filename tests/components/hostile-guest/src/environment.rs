//! A script sees its own variables and nothing else of the server's.

use crate::say;
use std::io::Read as _;

pub fn tell() {
    let mut variables: Vec<(String, String)> = std::env::vars().collect();
    variables.sort();
    for (name, value) in variables {
        say(format!("variable {name}={value}"));
    }
    for argument in std::env::args() {
        say(format!("argument {argument}"));
    }
    let mut input = String::new();
    let read = std::io::stdin().read_to_string(&mut input);
    say(format!("input {:?} {input:?}", read.is_ok()));
}
