//! Forwards output while it is produced, because the host may stop the script at any time.

use std::io::Write;

use bashkit::OutputCallback;

use crate::messages;

/// Returns the callback that bashkit calls after each command with output.
pub fn callback() -> OutputCallback {
    Box::new(|stdout, stderr| {
        write(std::io::stdout().lock(), stdout.as_bytes());
        to_stderr(stderr.as_bytes());
    })
}

pub fn to_stderr(bytes: &[u8]) {
    write(std::io::stderr().lock(), &messages::standardized(bytes));
}

/// A closed stream is the host's decision and must not stop the script.
fn write(mut stream: impl Write, bytes: &[u8]) {
    if !bytes.is_empty() {
        let _ = stream.write_all(bytes).and_then(|()| stream.flush());
    }
}
