//! Runs one script in a prepared shell with the environment of this instance.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use bashkit::{Error, ExecOptions, ShellState};

use crate::shell::Shell;
use crate::{failures, output, random, script, shell};

/// The working folder unless the host sets one.
const DEFAULT_FOLDER: &str = "/work";

/// bashkit's flag for exported variables in [`ShellState::var_attrs`].
const EXPORTED: u8 = 0b0001_0000;

/// Runs the script in this file and returns its exit code. Output goes to the standard streams while it is produced.
pub fn run(file: &str) -> u8 {
    let script = match script::read(file) {
        Ok(script) => script,
        Err(error) => {
            output::to_stderr(format!("bash: {file}: {}\n", failures::standard_message(&error)).as_bytes());
            return 127;
        }
    };

    let Shell { mut bash, runtime, fresh, is_copy } = shell::take();
    // The first argument names the script: its path, or `bash` for the text of `bash -c`.
    let mut arguments = std::env::args();
    let name = arguments.next().unwrap_or_else(|| file.to_owned());
    bash.restore_shell_state(&with_environment(fresh, &name, std::env::vars().collect()));
    let mut options = ExecOptions::new().arg0(&name).positional(arguments).streaming(output::callback());
    let mut stdin = Vec::new();
    if std::io::stdin().read_to_end(&mut stdin).is_ok() && !stdin.is_empty() {
        options = options.stdin(stdin);
    }
    let outcome = runtime.block_on(async {
        if is_copy {
            // In a snapshot, random numbers and the clock are frozen.
            bash.exec(&format!("RANDOM={} SECONDS=0", random::seed())).await?;
        }
        bash.exec_with_options(&script, options).await
    });
    let code = match outcome {
        // Truncated to eight bits, like the status of a process.
        Ok(result) => u8::try_from(result.exit_code & 0xff).expect("masked to eight bits"),
        Err(error) => {
            let (code, message) = described(&name, &error);
            output::to_stderr(message.as_bytes());
            code
        }
    };
    // The instance ends here, so freeing memory is a waste of time.
    std::mem::forget((bash, runtime));
    code
}

/// Returns a new shell state that exports exactly these variables, in the folder that `PWD` names.
fn with_environment(mut state: ShellState, file: &str, mut environment: HashMap<String, String>) -> ShellState {
    let folder = environment.entry("PWD".to_owned()).or_insert_with(|| DEFAULT_FOLDER.to_owned());
    state.cwd = PathBuf::from(folder.as_str());
    environment.entry("SHLVL".to_owned()).or_insert_with(|| "1".to_owned());
    for name in ["HOME", "USER"] {
        state.variables.remove(name);
    }
    // bashkit supports neither. Constant values suffice for a date and for a file name.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    state.variables.insert("EPOCHSECONDS".to_owned(), now.as_secs().to_string());
    state.variables.insert("EPOCHREALTIME".to_owned(), format!("{}.{:06}", now.as_secs(), now.subsec_micros()));
    // See `script`: outside of functions and sourced files there is no array of this name.
    state.variables.insert("BASH_SOURCE".to_owned(), file.to_owned());
    for (name, value) in &environment {
        state.variables.insert(name.clone(), value.clone());
        *state.var_attrs.entry(name.clone()).or_default() |= EXPORTED;
    }
    state.env = environment;
    state
}

/// Describes what ended the shell itself, with the exit code of bash.
fn described(file: &str, error: &Error) -> (u8, String) {
    match error {
        Error::Parse { message, line, .. } => (2, format!("{file}: line {line}: {message}\n")),
        other => (1, format!("{file}: {other}\n")),
    }
}
