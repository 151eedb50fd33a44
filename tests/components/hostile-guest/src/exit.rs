//! Whatever code a script ends with, it is a result. WASI 0.2 knows only good and bad.

use crate::{argument, say};

pub fn exit() {
    say("ending");
    std::process::exit(argument("CODE").parse().expect("a number"));
}
