//! Commands that run a script of another language. The host runs it on the same files while the shell waits.

use async_trait::async_trait;
use bashkit::{Builtin, BuiltinContext, ExecResult, Result};

use crate::bindings::skillcell::plugin::programs::{self, Command, Destination, Failure};

/// The commands that the host may know.
pub const NAMES: [&str; 5] = ["python3", "python", "node", "npx", "tsx"];

/// Like the shell's own codes for a command that is missing and one that cannot be started.
const NOT_FOUND: i32 = 127;
const NOT_STARTED: i32 = 126;

pub struct Program(pub &'static str);

#[async_trait]
impl Builtin for Program {
    async fn execute(&self, ctx: BuiltinContext<'_>) -> Result<ExecResult> {
        let command = Command {
            argv: [self.0.to_owned()].into_iter().chain(ctx.args.iter().cloned()).collect(),
            folder: ctx.cwd.to_string_lossy().into_owned(),
            variables: ctx.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            stdin: ctx.stdin.map(|stdin| stdin.as_bytes().to_vec()).unwrap_or_default(),
            stdout: Destination::Capture,
            stderr: Destination::Capture,
            timeout: None,
        };
        Ok(match programs::run(&command) {
            Ok(ended) => ExecResult {
                stdout: ended.stdout.into(),
                stderr: ended.stderr.into(),
                exit_code: ended.exit_code.unwrap_or_default().into(),
                ..ExecResult::default()
            },
            Err(Failure::NotFound) => ExecResult::err(format!("bash: {}: command not found\n", self.0), NOT_FOUND),
            Err(Failure::TooDeep) => {
                let message = format!("bash: {}: too many programs wait for one another\n", self.0);
                ExecResult::err(message, NOT_STARTED)
            }
        })
    }
}
