//! Every exit code is a result. WASI 0.2 has only success and failure.

use crate::{argument, print};

pub fn exit() {
    print("ending");
    std::process::exit(argument("CODE").parse().expect("a number"));
}
