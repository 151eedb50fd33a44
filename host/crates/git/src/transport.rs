//! HTTP for libgit2, which speaks the git protocol on top of it.
//!
//! A transport is registered once per process, but each session has its own settings. They are kept in a thread-local,
//! because libgit2 creates transports on the thread that asks for them.

mod received;
mod session;

pub use received::{Received, Refusal};
pub use session::HttpSession;

use git2::transport::{Service, SmartSubtransport, SmartSubtransportStream, Transport};
use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Maximum size of a request. Asking for one branch takes a few hundred bytes.
const MAX_BODY_BYTES: usize = 1 << 20;

thread_local! {
    static CURRENT: RefCell<Option<Arc<HttpSession>>> = const { RefCell::new(None) };
}

/// Ends the session of this thread when dropped.
pub struct SessionGuard;

impl Drop for SessionGuard {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

/// Makes libgit2 use this session on the current thread.
pub fn enter(session: Arc<HttpSession>) -> SessionGuard {
    CURRENT.set(Some(session));
    SessionGuard
}

/// Registers the transport. Must be called before libgit2 is first used.
pub fn register() {
    for scheme in ["http", "https"] {
        #[expect(unsafe_code, reason = "libgit2 has no other way to add a transport")]
        // SAFETY: called once, before anything asks libgit2 for a transport.
        let registered = unsafe {
            git2::transport::register(scheme, |remote| {
                let session = CURRENT.with_borrow(Clone::clone);
                let session = session.ok_or_else(|| git2::Error::from_str("this thread has no session"))?;
                Transport::smart(remote, true, Http { session })
            })
        };
        registered.expect("libgit2 has no other transport for this scheme");
    }
}

struct Http {
    session: Arc<HttpSession>,
}

impl SmartSubtransport for Http {
    fn action(&self, _: &str, action: Service) -> Result<Box<dyn SmartSubtransportStream>, git2::Error> {
        let state = match action {
            Service::UploadPackLs => State::References(self.session.references().map_err(net_error)?),
            Service::UploadPack => State::Request(Vec::new()),
            Service::ReceivePackLs | Service::ReceivePack => {
                return Err(git2::Error::from_str("the server never pushes"));
            }
        };
        Ok(Box::new(Stream { session: Arc::clone(&self.session), state }))
    }

    fn close(&self) -> Result<(), git2::Error> {
        Ok(())
    }
}

/// The session keeps the error itself; libgit2 passes on only its message.
fn net_error(error: impl std::fmt::Display) -> git2::Error {
    git2::Error::new(git2::ErrorCode::GenericError, git2::ErrorClass::Net, error.to_string())
}

/// One request: first it is written, then the response is read.
struct Stream {
    session: Arc<HttpSession>,
    state: State,
}

enum State {
    Request(Vec<u8>),
    References(Box<dyn Read + Send>),
    Objects(Box<dyn Read + Send>, Box<Received>),
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let State::Request(request) = &mut self.state else {
            return Err(io::Error::other("the request was already sent"));
        };
        if request.len() + bytes.len() > MAX_BODY_BYTES {
            return Err(io::Error::other("the request is too long"));
        }
        request.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let State::Request(request) = &mut self.state {
            let request = std::mem::take(request);
            let response = self.session.upload_pack(&request).map_err(io::Error::other)?;
            self.state = State::Objects(response, Box::default());
        }
        let interrupted = |error| self.session.interrupted(error);
        match &mut self.state {
            State::Request(_) => unreachable!("the request was just sent"),
            State::References(response) => response.read(bytes).map_err(interrupted),
            State::Objects(response, received) => {
                let count = response.read(bytes).map_err(interrupted)?;
                received.check(&bytes[..count]).map_err(|refusal| self.session.refused(refusal))?;
                Ok(count)
            }
        }
    }
}
