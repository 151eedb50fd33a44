use super::{Command, Ended};
use crate::bindings::skillcell::plugin::programs::{self, Destination, Failure};

/// Returns the code of Node's error if it does not start.
pub fn run(command: Command) -> Result<Ended, &'static str> {
    let to = |inherits| if inherits { Destination::Inherit } else { Destination::Capture };
    let variables = command.variables.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    let ended = programs::run(&programs::Command {
        argv: command.argv,
        folder: command.folder,
        variables,
        stdin: command.stdin,
        stdout: to(command.inherits_output),
        stderr: to(command.inherits_errors),
        timeout: command.timeout,
    });
    match ended {
        Ok(programs::Ended { exit_code, stdout, stderr }) => Ok(Ended { code: exit_code, stdout, stderr }),
        Err(Failure::NotFound) => Err("ENOENT"),
        Err(Failure::TooDeep) => Err("EAGAIN"),
    }
}
