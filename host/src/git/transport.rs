//! The way to remotes over HTTP: libgit2 speaks git, and this speaks HTTP for it.
//!
//! A transport is registered once and for all, but each exchange has settings of its own. They are kept for the thread that
//! is talking to a remote: libgit2 makes its transports on the thread that asks for them.

mod exchange;

pub use exchange::Exchange;

use git2::transport::{Service, SmartSubtransport, SmartSubtransportStream, Transport};
use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// Most that is sent in one request, in bytes. Asking for one branch takes a few hundred.
const MOST_SENT: usize = 1 << 20;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Exchange>>> = const { RefCell::new(None) };
}

/// Ends the exchange of this thread when it goes.
pub struct Talking;

impl Drop for Talking {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

/// What libgit2 does on this thread from now on goes through this exchange.
pub fn talk(exchange: Arc<Exchange>) -> Talking {
    CURRENT.set(Some(exchange));
    Talking
}

/// Tells libgit2 who speaks HTTP. Has to happen before its first use.
pub fn register() {
    for scheme in ["http", "https"] {
        #[expect(unsafe_code, reason = "there is no other way to give libgit2 a transport")]
        // SAFETY: it happens once, before anything else asks libgit2 for a transport.
        let registered = unsafe {
            git2::transport::register(scheme, |remote| {
                let exchange = CURRENT.with_borrow(Clone::clone);
                let exchange =
                    exchange.ok_or_else(|| git2::Error::from_str("nobody talks to a remote on this thread"))?;
                Transport::smart(remote, true, Http { exchange })
            })
        };
        registered.expect("libgit2 has no other transport for this scheme");
    }
}

struct Http {
    exchange: Arc<Exchange>,
}

impl SmartSubtransport for Http {
    fn action(&self, _: &str, action: Service) -> Result<Box<dyn SmartSubtransportStream>, git2::Error> {
        let state = match action {
            Service::UploadPackLs => State::Answered(self.exchange.references().map_err(said)?),
            Service::UploadPack => State::Asking(Vec::new()),
            Service::ReceivePackLs | Service::ReceivePack => {
                return Err(git2::Error::from_str("the server never pushes"));
            }
        };
        Ok(Box::new(Stream { exchange: Arc::clone(&self.exchange), state }))
    }

    fn close(&self) -> Result<(), git2::Error> {
        Ok(())
    }
}

/// The exchange keeps the error itself; libgit2 only passes on that there was one.
fn said(error: impl std::fmt::Display) -> git2::Error {
    git2::Error::new(git2::ErrorCode::GenericError, git2::ErrorClass::Net, error.to_string())
}

/// One request: first it is written, then its answer is read.
struct Stream {
    exchange: Arc<Exchange>,
    state: State,
}

enum State {
    Asking(Vec<u8>),
    Answered(Box<dyn Read + Send>),
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let State::Asking(request) = &mut self.state else { return Err(io::Error::other("the request is sent")) };
        if request.len() + bytes.len() > MOST_SENT {
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
        if let State::Asking(request) = &mut self.state {
            let request = std::mem::take(request);
            self.state = State::Answered(self.exchange.upload_pack(&request).map_err(io::Error::other)?);
        }
        let State::Answered(answer) = &mut self.state else { unreachable!("it was just asked") };
        answer.read(bytes).map_err(|error| self.exchange.broke_off(error))
    }
}
