//! The stdio transport: one message per line.
//!
//! rmcp ends the session or stays silent on some malformed messages. Here each gets the answer that JSON-RPC requires, and
//! only valid messages reach rmcp.

mod output;

use crate::answer::invalid;
use crate::paging;
use crate::requests::{Cancellations, SHUTDOWN_GRACE};
use output::{Outgoing, Output};
use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorData, JsonRpcMessage, JsonRpcNotification, RequestId};
use rmcp::service::RxJsonRpcMessage;
use rmcp::transport::Transport;
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::io::{BufRead, Read, Stdout};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// The longest message, in bytes.
const MAX_LINE_LENGTH: u64 = 16 << 20;

pub type Incoming = RxJsonRpcMessage<RoleServer>;

/// Clones share the input and output, so that a new session can continue after one that rmcp dropped.
#[derive(Clone)]
pub struct Stdio {
    incoming: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<Incoming>>>,
    output: Arc<Output<Stdout>>,
    in_flight: InFlight,
    /// Cancelled when nothing more can be read or written.
    ended: CancellationToken,
}

/// The thread that writes queued messages.
pub struct Writer {
    thread: JoinHandle<()>,
    output: Arc<Output<Stdout>>,
    input_ended: Arc<OnceLock<Instant>>,
}

impl Stdio {
    /// Starts a thread for reading and one for writing: neither waits for the other or for a request.
    pub fn start(
        input: impl BufRead + Send + 'static,
        output: Stdout,
        ended: CancellationToken,
        cancellations: Cancellations,
    ) -> std::io::Result<(Self, Writer)> {
        let (in_flight, incoming) = InFlight::new(cancellations);
        let write_ended = ended.clone();
        let (output, thread) = Output::start(output, move |error| {
            tracing::warn!("cannot write to standard output: {error}");
            write_ended.cancel();
        })?;
        let input_ended: Arc<OnceLock<Instant>> = Arc::default();
        let ended_now = Arc::clone(&input_ended);
        let (requests, answers, read_ended) = (in_flight.clone(), Arc::clone(&output), ended.clone());
        let runtime = tokio::runtime::Handle::current();
        std::thread::Builder::new().name("stdin".to_owned()).spawn(move || {
            read(input, &requests, |message| answers.send(message));
            let _ = ended_now.set(Instant::now());
            requests.cancellations.input_ended.cancel();
            let mut unanswered = requests.count.subscribe();
            let all_answered = unanswered.wait_for(|count| *count == 0);
            runtime.block_on(async { drop(tokio::time::timeout(SHUTDOWN_GRACE, all_answered).await) });
            read_ended.cancel();
        })?;
        let incoming = Arc::new(tokio::sync::Mutex::new(incoming));
        let writer = Writer { thread, output: Arc::clone(&output), input_ended };
        Ok((Self { incoming, output, in_flight, ended }, writer))
    }
}

impl Writer {
    /// Waits until everything is written, at most until the end of the grace period.
    pub async fn finish(self) {
        self.output.end();
        let spent = self.input_ended.get().map_or(Duration::ZERO, Instant::elapsed);
        let joined = tokio::task::spawn_blocking(move || self.thread.join());
        let _ = tokio::time::timeout(SHUTDOWN_GRACE.saturating_sub(spent), joined).await;
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = Infallible;

    fn send(&mut self, message: Outgoing) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let wanted = answered.as_ref().is_none_or(|id| !self.in_flight.was_cancelled(id));
        match self.in_flight.unanswered() {
            _ if !wanted => {}
            0 | 1 => self.output.send_now(message),
            _ => self.output.send(message),
        }
        if let Some(id) = answered {
            self.in_flight.answered(&id);
        }
        std::future::ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<Incoming> {
        let mut incoming = self.incoming.lock().await;
        tokio::select! {
            biased;
            () = self.ended.cancelled() => None,
            message = incoming.recv() => message,
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Requests without an answer.
#[derive(Clone)]
pub struct InFlight {
    requests: Arc<Mutex<HashMap<RequestId, Pending>>>,
    forward: mpsc::UnboundedSender<Incoming>,
    count: watch::Sender<usize>,
    cancellations: Cancellations,
}

#[derive(Default)]
struct Pending {
    cancelled: bool,
    /// Later requests with the same id. They wait, because rmcp would lose an answer.
    waiting: VecDeque<Incoming>,
}

impl InFlight {
    /// Also returns where requests arrive that may be answered.
    pub fn new(cancellations: Cancellations) -> (Self, mpsc::UnboundedReceiver<Incoming>) {
        let (forward, incoming) = mpsc::unbounded_channel();
        (Self { requests: Arc::default(), forward, count: watch::Sender::new(0), cancellations }, incoming)
    }

    pub fn unanswered(&self) -> usize {
        *self.count.borrow()
    }

    fn admit(&self, message: Incoming) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        match &message {
            JsonRpcMessage::Request(request) => {
                if let Some(pending) = requests.get_mut(&request.id) {
                    pending.waiting.push_back(message);
                    return;
                }
                requests.insert(request.id.clone(), Pending::default());
                self.cancellations.begin(&request.id);
                self.count.send_replace(requests.len());
            }
            // rmcp drops a cancelled request and would send its late answer for the next one with that id. So the
            // notification is not forwarded: the answer is dropped here, and only then the id is free.
            JsonRpcMessage::Notification(JsonRpcNotification {
                notification: ClientNotification::CancelledNotification(cancelled),
                ..
            }) => {
                if let Some(id) = &cancelled.params.request_id
                    && let Some(pending) = requests.get_mut(id)
                {
                    pending.cancelled = true;
                    self.cancellations.cancel(id);
                }
                return;
            }
            _ => {}
        }
        let _ = self.forward.send(message);
    }

    pub fn was_cancelled(&self, id: &RequestId) -> bool {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.get(id).is_some_and(|pending| pending.cancelled)
    }

    pub fn answered(&self, id: &RequestId) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        self.cancellations.end(id);
        if let Some(Pending { mut waiting, .. }) = requests.remove(id)
            && let Some(next) = waiting.pop_front()
        {
            requests.insert(id.clone(), Pending { cancelled: false, waiting });
            self.cancellations.begin(id);
            let _ = self.forward.send(next);
        }
        self.count.send_replace(requests.len());
    }
}

/// Why a line is not a message.
enum Rejected {
    /// To be answered with this error.
    Request(ErrorData, Option<RequestId>),
    /// Has no answer.
    Notification(ErrorData),
}

/// Reads messages until the input ends. Those that are not valid are answered right away.
pub fn read(mut input: impl BufRead, in_flight: &InFlight, answer: impl Fn(Outgoing)) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut input).take(MAX_LINE_LENGTH + 1).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => return tracing::warn!("standard input cannot be read: {error}"),
        }
        let parsed = if line.len() as u64 > MAX_LINE_LENGTH {
            if !line.ends_with(b"\n") && !skip_line(&mut input) {
                return;
            }
            let message = format!("a message is longer than {MAX_LINE_LENGTH} bytes");
            Err(Rejected::Request(ErrorData::invalid_request(message, None), None))
        } else if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        } else {
            parse(&line)
        };
        match parsed {
            Ok(message) => in_flight.admit(message),
            Err(Rejected::Request(error, id)) => {
                tracing::warn!("rejected a message: {}", error.message);
                answer(JsonRpcMessage::error(error, id));
            }
            Err(Rejected::Notification(error)) => tracing::warn!("ignored a notification: {}", error.message),
        }
    }
}

/// Skips the rest of a line. Returns `false` at the end of the input.
fn skip_line(input: &mut impl BufRead) -> bool {
    loop {
        let Ok(buffer) = input.fill_buf() else { return false };
        if buffer.is_empty() {
            return false;
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return true;
        }
    }
}

fn parse(line: &[u8]) -> Result<Incoming, Rejected> {
    if let Ok(message) = serde_json::from_slice(line) {
        return match paging::wrong_cursor(line) {
            None => Ok(message),
            Some((id, error)) => Err(Rejected::Request(error, Some(id))),
        };
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let error = ErrorData::parse_error(format!("not JSON: {error}"), None);
        Rejected::Request(error, None)
    })?;
    let Value::Object(object) = &value else {
        let what = if value.is_array() {
            "batches are not supported: send one message per line"
        } else {
            "a message must be an object"
        };
        return Err(Rejected::Request(ErrorData::invalid_request(what, None), None));
    };
    let id = object.get("id").and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let error = if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        ErrorData::invalid_request("`jsonrpc` must be \"2.0\"", None)
    } else if object.contains_key("id") && id.is_none() {
        ErrorData::invalid_request("`id` must be a string or an integer", None)
    } else if !object.get("method").is_some_and(Value::is_string) {
        ErrorData::invalid_request("a message needs a `method`, or a `result` or `error` that answers one", None)
    } else {
        invalid("`params` must be an object that fits the method")
    };
    let is_notification = object.contains_key("method") && !object.contains_key("id");
    Err(if is_notification { Rejected::Notification(error) } else { Rejected::Request(error, id) })
}
