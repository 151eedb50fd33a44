//! A git server on this machine: smart HTTP, with or without TLS and a token, with faults on demand.

pub mod pack;
mod upload_pack;

pub use crate::authority::Authority;
pub use crate::wire::Request;

use crate::PATIENCE;
use crate::wire::{self, Answer};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use git2::Repository;
use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Which answers have the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum On {
    /// The list of branches, which is requested first.
    Refs,
    /// The objects.
    Pack,
    Everything,
}

/// What is wrong with an answer.
#[derive(Debug, Clone)]
pub enum Fault {
    /// Another status, with a page in HTML.
    Status(u16),
    /// A page in HTML instead, like the sign-in page of some networks.
    Page,
    /// A page in HTML with the headers of the proper answer.
    DisguisedPage,
    /// A redirect to the same path and query at another address, for clients with access.
    Redirect(String),
    /// Nothing, until `behave` is called.
    Hang,
    /// This many bytes of the answer, and the rest when `behave` is called.
    Stall(usize),
    /// This many bytes of the answer, and then the end of the connection.
    Cut(usize),
    /// This many bytes at a time, with a pause after each.
    Drip(usize, Duration),
    /// The end of the connection without an answer.
    HangUp,
    /// This pack instead of the proper one.
    Pack(Vec<u8>),
    /// This line again and again, for ever.
    Endless(String),
}

/// A running server. Stopped when the value is dropped.
pub struct GitServer {
    address: SocketAddr,
    scheme: &'static str,
    shared: Arc<Shared>,
}

/// State that all connections share.
struct Shared {
    /// Where the repositories are.
    folder: PathBuf,
    tls: Option<Arc<ServerConfig>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    token: Option<String>,
    fault: Option<(On, Fault)>,
    requests: Vec<Request>,
    /// How many answers were held back so far.
    held: usize,
    connections: Vec<TcpStream>,
    ended: bool,
}

impl GitServer {
    /// Serves every repository of a folder over plain HTTP.
    pub fn http(folder: &Path) -> Self {
        Self::start(folder, "http", None)
    }

    /// Serves them over TLS, with a certificate that this authority signs.
    pub fn https(folder: &Path, authority: &Authority) -> Self {
        Self::start(folder, "https", Some(authority.server()))
    }

    fn start(folder: &Path, scheme: &'static str, tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it listens");
        let state = Mutex::new(State::default());
        let shared = Arc::new(Shared { folder: folder.to_owned(), tls, state, changed: Condvar::new() });
        let theirs = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if theirs.state().ended {
                    return;
                }
                let shared = Arc::clone(&theirs);
                std::thread::spawn(move || shared.converse(stream));
            }
        });
        Self { address, scheme, shared }
    }

    /// Requires this token as the password.
    pub fn require_token(&self, token: &str) {
        self.shared.state().token = Some(token.to_owned());
    }

    /// The URL of a repository, with the IP address of this machine.
    pub fn url(&self, repository: &str) -> String {
        self.url_at("127.0.0.1", repository)
    }

    /// The URL with another name of this machine, optionally with user information before it.
    pub fn url_at(&self, host: &str, repository: &str) -> String {
        format!("{}/{repository}.git", self.base_at(host))
    }

    /// The URL without a path, with a name of this machine.
    pub fn base_at(&self, host: &str) -> String {
        format!("{}://{host}:{}", self.scheme, self.address.port())
    }

    /// Answers with a fault from now on.
    pub fn misbehave(&self, on: On, fault: Fault) {
        let mut state = self.shared.state();
        if matches!(fault, Fault::HangUp) {
            state.hang_up();
        }
        state.fault = Some((on, fault));
    }

    /// Answers properly from now on, and completes the answers that were held back.
    pub fn behave(&self) {
        self.shared.state().fault = None;
        self.shared.changed.notify_all();
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state().requests.clone()
    }

    /// Waits until this many answers have been held back in total.
    pub fn wait_until_held(&self, count: usize) {
        self.shared.wait(&format!("{count} held answers"), |state| state.held >= count);
    }
}

impl Drop for GitServer {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.ended = true;
        state.hang_up();
        drop(state);
        self.shared.changed.notify_all();
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.address);
    }
}

impl State {
    fn hang_up(&mut self) {
        for connection in self.connections.drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    fn lets_in(&self, request: &Request) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let shown = request.header("authorization").and_then(|value| value.strip_prefix("Basic "));
        let decoded = shown.and_then(|shown| BASE64_STANDARD.decode(shown).ok()).unwrap_or_default();
        let text = String::from_utf8_lossy(&decoded);
        text.split_once(':').is_some_and(|(_, password)| password == token)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, what: &str, done: impl Fn(&State) -> bool) {
        let waited = self.changed.wait_timeout_while(self.state(), PATIENCE, |state| !done(state));
        let (state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        let asked: Vec<String> =
            state.requests.iter().map(|request| format!("{} {}", request.method, request.target)).collect();
        drop(state);
        assert!(!timeout.timed_out(), "no {what} in {PATIENCE:?}: {asked:#?}");
    }

    /// Answers requests until the connection ends. A client may disconnect at any time.
    fn converse(&self, connection: TcpStream) {
        if self.refuses() {
            return;
        }
        let (Ok(ours), Ok(to_end)) = (connection.try_clone(), connection.try_clone()) else {
            return;
        };
        self.state().connections.push(ours);
        let _ = connection.set_nodelay(true);
        let _ = match &self.tls {
            None => self.answer_all(connection),
            Some(config) => {
                let session = ServerConnection::new(Arc::clone(config)).expect("a sound configuration");
                self.answer_all(StreamOwned::new(session, connection))
            }
        };
        let _ = to_end.shutdown(Shutdown::Both);
    }

    fn refuses(&self) -> bool {
        matches!(self.state().fault, Some((On::Everything, Fault::HangUp)))
    }

    fn answer_all(&self, stream: impl Read + Write) -> io::Result<()> {
        let mut stream = BufReader::new(stream);
        while let Some(request) = Request::read(&mut stream)? {
            let mut state = self.state();
            state.requests.push(request.clone());
            let stage = if request.method == "GET" { On::Refs } else { On::Pack };
            let fault = state.fault.clone().filter(|(on, _)| *on == stage || *on == On::Everything);
            drop(state);
            self.changed.notify_all();
            self.answer(&request, fault.as_ref().map(|(_, fault)| fault), stream.get_mut())?;
        }
        Ok(())
    }

    fn answer(&self, request: &Request, fault: Option<&Fault>, stream: &mut impl Write) -> io::Result<()> {
        let answer = match fault {
            Some(Fault::HangUp) => return Err(io::ErrorKind::ConnectionAborted.into()),
            Some(Fault::Status(status)) => Answer::page(*status),
            Some(Fault::Page) => Answer::page(200),
            Some(Fault::DisguisedPage) => Answer { headers: self.proper(request).headers, ..Answer::page(200) },
            Some(Fault::Redirect(base)) => self
                .closed(request)
                .unwrap_or_else(|| Answer::page(302).header("Location", format!("{base}{}", request.target))),
            Some(Fault::Hang) => {
                self.hold();
                self.proper(request)
            }
            Some(Fault::Pack(pack)) => self.proper_with(request, Some(pack)),
            Some(Fault::Stall(_) | Fault::Cut(_) | Fault::Drip(..) | Fault::Endless(_)) | None => self.proper(request),
        };
        answer.write_head(stream)?;
        match fault {
            Some(Fault::Stall(bytes)) => {
                let (first, rest) = answer.body.split_at(answer.body.len().min(*bytes));
                wire::write_piece(stream, first)?;
                self.hold();
                wire::write_piece(stream, rest)?;
            }
            Some(Fault::Cut(bytes)) => {
                wire::write_piece(stream, &answer.body[..answer.body.len().min(*bytes)])?;
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            Some(Fault::Drip(bytes, pause)) => {
                for piece in answer.body.chunks(*bytes) {
                    wire::write_piece(stream, piece)?;
                    self.pause(*pause);
                }
            }
            Some(Fault::Endless(line)) => {
                let lines = upload_pack::line(line).repeat(1_000);
                loop {
                    wire::write_piece(stream, &lines)?;
                }
            }
            _ => wire::write_piece(stream, &answer.body)?,
        }
        wire::end_pieces(stream)
    }

    /// Waits for `behave` or for the end of the server.
    fn hold(&self) {
        let mut state = self.state();
        state.held += 1;
        self.changed.notify_all();
        let holds = |state: &mut State| state.fault.is_some() && !state.ended;
        drop(self.changed.wait_while(state, holds));
    }

    /// Pauses, unless `behave` is called or the server ends.
    fn pause(&self, time: Duration) {
        let holds = |state: &mut State| state.fault.is_some() && !state.ended;
        drop(self.changed.wait_timeout_while(self.state(), time, holds));
    }

    /// The answer to a client without access.
    fn closed(&self, request: &Request) -> Option<Answer> {
        let refusal = || Answer::page(401).header("WWW-Authenticate", "Basic realm=\"skills\"");
        (!self.state().lets_in(request)).then(refusal)
    }

    /// The proper answer.
    fn proper(&self, request: &Request) -> Answer {
        self.proper_with(request, None)
    }

    /// The proper answer, with another pack.
    fn proper_with(&self, request: &Request, pack: Option<&[u8]>) -> Answer {
        if let Some(answer) = self.closed(request) {
            return answer;
        }
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let (name, service) = path.trim_start_matches('/').split_once(".git/").unwrap_or_default();
        let Ok(repository) = Repository::open_bare(self.folder.join(format!("{name}.git"))) else {
            return Answer::page(404);
        };
        match (request.method.as_str(), service, query) {
            ("GET", "info/refs", "service=git-upload-pack") => {
                Answer::ok("application/x-git-upload-pack-advertisement", upload_pack::advertise(&repository))
            }
            ("POST", "git-upload-pack", "") => Answer::ok(
                "application/x-git-upload-pack-result",
                upload_pack::answer(&repository, &request.body, pack),
            ),
            _ => Answer::page(404),
        }
    }
}

#[cfg(test)]
mod tests;
