//! A script sees its own variables, and none of the server.

use crate::print;
use std::io::Read as _;

pub fn print_environment() {
    let mut variables: Vec<(String, String)> = std::env::vars().collect();
    variables.sort();
    for (name, value) in variables {
        print(format!("variable {name}={value}"));
    }
    for argument in std::env::args() {
        print(format!("argument {argument}"));
    }
    let mut input = String::new();
    let read = std::io::stdin().read_to_string(&mut input);
    print(format!("input {:?} {input:?}", read.is_ok()));
}
