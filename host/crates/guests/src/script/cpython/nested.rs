//! Nested runs of Python: `lib/_nested.py` sends a command through the bridge.

use super::bridge::{self, Failure, Record};
use crate::script::ScriptWorld;
use crate::script::nested::running;
use bindings::programs::{self, Command, Destination, Ended};
use sandbox::state::ScriptState;
use std::sync::Weak;
use wasmtime::StoreContextMut;

/// Takes the place of a URL.
pub const ADDRESS: &str = "skillcell:programs";

pub async fn run(
    world: &Weak<ScriptWorld>,
    store: StoreContextMut<'_, ScriptState>,
    record: Record,
) -> wasmtime::Result<Result<Vec<u8>, Failure>> {
    let Some(command) = command(record) else { return Ok(Err(Failure::malformed())) };
    let fields = |fields: &[(&'static str, String)]| {
        fields.iter().map(|(name, value)| (name.as_bytes(), value.clone().into_bytes())).collect::<Vec<_>>()
    };
    Ok(Ok(match running(world.upgrade())?.run_nested(store, command).await? {
        Ok(Ended { exit_code, stdout, stderr }) => {
            let ended = if exit_code.is_some() { "exited" } else { "stopped" };
            let fields = fields(&[("ended", ended.to_owned()), ("stdout", stdout.len().to_string())]);
            bridge::reply(exit_code.unwrap_or_default().into(), fields.into_iter(), &[&stdout, &stderr])
        }
        Err(failure) => {
            let failure = match failure {
                programs::Failure::NotFound => "not-found",
                programs::Failure::TooDeep => "too-deep",
            };
            bridge::reply(0, fields(&[("failure", failure.to_owned())]).into_iter(), &[])
        }
    }))
}

fn command(record: Record) -> Option<Command> {
    let mut command = Command {
        argv: Vec::new(),
        folder: "/".to_owned(),
        variables: Vec::new(),
        stdin: record.body,
        stdout: Destination::Inherit,
        stderr: Destination::Inherit,
        timeout: record.timeout,
    };
    for (name, value) in record.fields {
        let value = String::from_utf8(value).ok()?;
        match name.as_slice() {
            b"arg" => command.argv.push(value),
            b"folder" => command.folder = value,
            b"variable" => {
                let (name, value) = value.split_once('=')?;
                command.variables.push((name.to_owned(), value.to_owned()));
            }
            b"stdout" => command.stdout = destination(&value)?,
            b"stderr" => command.stderr = destination(&value)?,
            _ => return None,
        }
    }
    Some(command)
}

fn destination(name: &str) -> Option<Destination> {
    Some(match name {
        "inherit" => Destination::Inherit,
        "capture" => Destination::Capture,
        "output" => Destination::Output,
        _ => return None,
    })
}
