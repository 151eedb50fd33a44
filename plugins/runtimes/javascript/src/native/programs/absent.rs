//! Outside the sandbox, where tests run, there are no other programs.

use super::{Command, Ended};

pub fn run(command: Command) -> Result<Ended, &'static str> {
    drop(command);
    Err("ENOENT")
}
