//! Writes messages to standard output. No request ever waits for a client that does not read.

use rmcp::RoleServer;
use rmcp::model::{JsonRpcError, JsonRpcMessage};
use rmcp::service::TxJsonRpcMessage;
use serde_json::json;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

pub type Outgoing = TxJsonRpcMessage<RoleServer>;

/// How many bytes are written at once: pipes are faster with fewer, larger writes.
const CHUNK: usize = 1 << 16;

/// A queue of messages, and where a thread writes them.
pub struct Output<W> {
    queue: Mutex<Queue>,
    more: Condvar,
    writer: W,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<Line>,
    /// Whether the thread has taken lines and not written them yet.
    writing: bool,
    /// Whether the thread ends once the queue is empty.
    ended: bool,
}

enum Line {
    Message(Box<Outgoing>),
    /// The unwritten rest of a message.
    Rest(Vec<u8>),
}

impl<W: AsFd + Send + Sync + 'static> Output<W>
where
    for<'a> &'a W: Write,
{
    /// Starts the thread. `failed` is called when the client is gone.
    pub fn start(
        writer: W,
        failed: impl FnOnce(io::Error) + Send + 'static,
    ) -> io::Result<(Arc<Self>, JoinHandle<()>)> {
        let shared = Arc::new(Self { queue: Mutex::default(), more: Condvar::new(), writer });
        let writer = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("stdout".to_owned()).spawn(move || {
            if let Err(error) = writer.run() {
                failed(error);
            }
        })?;
        Ok((shared, thread))
    }

    /// Queues a message.
    pub fn send(&self, message: Outgoing) {
        self.queue().lines.push_back(Line::Message(Box::new(message)));
        self.more.notify_one();
    }

    /// Writes a message on this thread if the queue is empty and as far as that does not block, which is faster than waking
    /// the other thread. The rest is queued.
    pub fn send_now(&self, message: Outgoing) {
        let mut queue = self.queue();
        if queue.writing || !queue.lines.is_empty() {
            drop(queue);
            return self.send(message);
        }
        let mut bytes = Vec::new();
        let Ok(()) = append(&mut bytes, &message) else { return };
        let written = write_nonblocking(&self.writer, &bytes);
        if written < bytes.len() {
            bytes.drain(..written);
            queue.lines.push_back(Line::Rest(bytes));
            self.more.notify_one();
        }
    }

    /// Ends the thread once everything is written.
    pub fn end(&self) {
        self.queue().ended = true;
        self.more.notify_one();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) -> io::Result<()> {
        let mut bytes = Vec::new();
        loop {
            let mut queue = self.queue();
            queue.writing = false;
            let nothing = |queue: &mut Queue| queue.lines.is_empty() && !queue.ended;
            queue = self.more.wait_while(queue, nothing).unwrap_or_else(PoisonError::into_inner);
            let Some(first) = queue.lines.pop_front() else { return Ok(()) };
            queue.writing = true;
            let mut next = Some(first);
            drop(queue);
            bytes.clear();
            while let Some(line) = next {
                match line {
                    Line::Message(message) => append(&mut bytes, &message)?,
                    Line::Rest(rest) => bytes.extend(rest),
                }
                next = if bytes.len() < CHUNK { self.queue().lines.pop_front() } else { None };
            }
            let mut writer = &self.writer;
            writer.write_all(&bytes)?;
            writer.flush()?;
        }
    }
}

/// Writes as much as is possible without blocking, and returns how much. An error occurs again when the rest is written.
#[cfg(target_os = "linux")]
fn write_nonblocking(output: &impl AsFd, bytes: &[u8]) -> usize {
    use rustix::io::ReadWriteFlags;
    // The current position; pipes and sockets have no other.
    const CURRENT_POSITION: u64 = u64::MAX;
    rustix::io::pwritev2(output, &[io::IoSlice::new(bytes)], CURRENT_POSITION, ReadWriteFlags::NOWAIT).unwrap_or(0)
}

/// Other systems have no such write.
#[cfg(not(target_os = "linux"))]
fn write_nonblocking(_: &impl AsFd, _: &[u8]) -> usize {
    0
}

fn append(bytes: &mut Vec<u8>, message: &Outgoing) -> io::Result<()> {
    match message {
        // JSON-RPC requires null for an unknown id; rmcp omits the field.
        JsonRpcMessage::Error(JsonRpcError { id: None, error, .. }) => {
            serde_json::to_writer(&mut *bytes, &json!({"jsonrpc": "2.0", "id": null, "error": error}))?;
        }
        message => serde_json::to_writer(&mut *bytes, message)?,
    }
    bytes.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{ErrorData, RequestId};
    use serde_json::Value;
    use std::io::{BufRead, BufReader};
    use std::os::unix::net::UnixStream;

    fn message(number: i64, length: usize) -> Outgoing {
        let text = "x".repeat(length);
        JsonRpcMessage::error(ErrorData::internal_error(text, None), Some(RequestId::Number(number)))
    }

    #[test]
    fn a_client_that_does_not_read_blocks_nothing_and_gets_everything_in_order() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (output, thread) = Output::start(ours, |error| panic!("{error}")).unwrap();
        // Far more than the buffer of a socket, with both functions.
        for number in 0..200 {
            if number % 3 == 0 {
                output.send(message(number, 50_000));
            } else {
                output.send_now(message(number, 50_000));
            }
        }
        output.end();
        let lines = BufReader::new(&theirs).lines().take(200);
        let ids: Vec<i64> = lines
            .map(|line| serde_json::from_str::<Value>(&line.unwrap()).expect("whole lines")["id"].as_i64().unwrap())
            .collect();
        assert_eq!(ids, (0..200).collect::<Vec<_>>());
        thread.join().unwrap();
    }

    #[test]
    fn a_client_that_is_gone_is_noticed() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        let (sender, reason) = std::sync::mpsc::channel();
        let (output, thread) = Output::start(ours, move |error| sender.send(error.kind()).unwrap()).unwrap();
        output.send_now(message(1, 10));
        assert_eq!(reason.recv().unwrap(), io::ErrorKind::BrokenPipe);
        thread.join().unwrap();
    }
}
