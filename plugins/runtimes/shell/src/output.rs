//! Hands output on while it is produced: the host may stop the script at any moment.

use std::io::Write;

use bashkit::OutputCallback;

use crate::messages;

/// What bashkit calls after each command that said something.
pub fn callback() -> OutputCallback {
    Box::new(|stdout, stderr| {
        write(std::io::stdout().lock(), stdout.as_bytes());
        to_stderr(stderr.as_bytes());
    })
}

pub fn to_stderr(bytes: &[u8]) {
    write(std::io::stderr().lock(), &messages::in_usual_words(bytes));
}

/// A stream that takes no more is the host's decision, and no reason to stop the script.
fn write(mut stream: impl Write, bytes: &[u8]) {
    if !bytes.is_empty() {
        let _ = stream.write_all(bytes).and_then(|()| stream.flush());
    }
}
