//! Messages to standard output. No request ever waits for a client that does not read.

use rmcp::RoleServer;
use rmcp::model::JsonRpcMessage;
use rmcp::service::TxJsonRpcMessage;
use serde_json::Value;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

pub type Outgoing = TxJsonRpcMessage<RoleServer>;

/// What is written at once when much is waiting: pipes are faster with fewer, larger pieces.
const PIECE: usize = 1 << 16;

/// Where messages go. A thread writes them, and whoever has just one may do it without that thread.
pub struct Output<W> {
    shared: Arc<Shared<W>>,
}

impl<W> Clone for Output<W> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

struct Shared<W> {
    queue: Mutex<Queue>,
    more: Condvar,
    output: W,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<Line>,
    /// The thread has taken lines and not written them yet.
    writing: bool,
    /// Nothing more will come.
    ended: bool,
}

enum Line {
    Message(Box<Outgoing>),
    /// What the client did not take at once.
    Rest(Vec<u8>),
}

impl<W: AsFd + Send + Sync + 'static> Output<W>
where
    for<'a> &'a W: Write,
{
    /// Starts the thread. `failed` is called with the reason when the client is gone.
    pub fn start(output: W, failed: impl FnOnce(io::Error) + Send + 'static) -> io::Result<(Self, JoinHandle<()>)> {
        let shared = Arc::new(Shared { queue: Mutex::default(), more: Condvar::new(), output });
        let writer = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("stdout".to_owned()).spawn(move || {
            if let Err(error) = writer.run() {
                failed(error);
            }
        })?;
        Ok((Self { shared }, thread))
    }

    /// Sends a message after all that were sent before.
    pub fn send(&self, message: Outgoing) {
        self.shared.queue().lines.push_back(Line::Message(Box::new(message)));
        self.shared.more.notify_one();
    }

    /// The same for a message that nobody else's will follow soon. Waking the thread takes longer than writing it here, as far
    /// as the client takes it without delay.
    pub fn send_alone(&self, message: Outgoing) {
        let mut queue = self.shared.queue();
        if queue.writing || !queue.lines.is_empty() {
            drop(queue);
            return self.send(message);
        }
        let mut bytes = Vec::new();
        let Ok(()) = append(&mut bytes, &message) else { return };
        let taken = write_without_waiting(&self.shared.output, &bytes);
        if taken < bytes.len() {
            bytes.drain(..taken);
            queue.lines.push_back(Line::Rest(bytes));
            self.shared.more.notify_one();
        }
    }

    /// Lets the thread end when everything is written.
    pub fn end(&self) {
        self.shared.queue().ended = true;
        self.shared.more.notify_one();
    }
}

impl<W> Shared<W>
where
    for<'a> &'a W: Write,
{
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
                next = if bytes.len() < PIECE { self.queue().lines.pop_front() } else { None };
            }
            let mut output = &self.output;
            output.write_all(&bytes)?;
            output.flush()?;
        }
    }
}

/// Writes as much as the client takes at this moment, and says how much that was. Errors show again when the rest is written.
#[cfg(target_os = "linux")]
fn write_without_waiting(output: &impl AsFd, bytes: &[u8]) -> usize {
    use rustix::io::ReadWriteFlags;
    // The place in a pipe or socket is where it ends.
    const HERE: u64 = u64::MAX;
    rustix::io::pwritev2(output, &[io::IoSlice::new(bytes)], HERE, ReadWriteFlags::NOWAIT).unwrap_or(0)
}

/// Elsewhere nobody can be asked to take only what does not delay.
#[cfg(not(target_os = "linux"))]
fn write_without_waiting(_: &impl AsFd, _: &[u8]) -> usize {
    0
}

fn append(bytes: &mut Vec<u8>, message: &Outgoing) -> io::Result<()> {
    let start = bytes.len();
    serde_json::to_writer(&mut *bytes, message)?;
    // JSON-RPC wants a null where the id is not known; rmcp leaves the field out.
    if matches!(message, JsonRpcMessage::Error(error) if error.id.is_none()) {
        let mut value: Value = serde_json::from_slice(&bytes[start..])?;
        value["id"] = Value::Null;
        bytes.truncate(start);
        serde_json::to_writer(&mut *bytes, &value)?;
    }
    bytes.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{ErrorData, RequestId};
    use std::io::{BufRead, BufReader};
    use std::os::unix::net::UnixStream;

    fn message(number: i64, length: usize) -> Outgoing {
        let text = "x".repeat(length);
        JsonRpcMessage::error(ErrorData::internal_error(text, None), Some(RequestId::Number(number)))
    }

    #[test]
    fn a_client_that_does_not_read_holds_nobody_up_and_gets_everything_in_order() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (output, thread) = Output::start(ours, |error| panic!("{error}")).unwrap();
        // Far more than a socket takes, by both ways.
        for number in 0..200 {
            if number % 3 == 0 {
                output.send(message(number, 50_000));
            } else {
                output.send_alone(message(number, 50_000));
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
        let (told, reason) = std::sync::mpsc::channel();
        let (output, thread) = Output::start(ours, move |error| told.send(error.kind()).unwrap()).unwrap();
        output.send_alone(message(1, 10));
        assert_eq!(reason.recv().unwrap(), io::ErrorKind::BrokenPipe);
        thread.join().unwrap();
    }
}
