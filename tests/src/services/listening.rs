//! TLS connections to a server on this machine, each on a thread of its own.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A connection that can be read and written.
pub trait Stream: Read + Write {}

impl<S: Read + Write> Stream for S {}

/// A port that accepts connections until the value is dropped.
pub struct Listening {
    address: SocketAddr,
    open: Arc<Open>,
}

#[derive(Default)]
struct Open {
    connections: Mutex<Vec<TcpStream>>,
    ended: AtomicBool,
}

impl Listening {
    /// Calls `converse` with every connection, after TLS was set up.
    pub fn start(tls: Arc<ServerConfig>, converse: impl Fn(&mut dyn Stream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it listens");
        let open = Arc::new(Open::default());
        let (theirs, converse) = (Arc::clone(&open), Arc::new(converse));
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                if theirs.ended.load(Ordering::Acquire) {
                    return;
                }
                let (Ok(ours), Ok(to_end)) = (connection.try_clone(), connection.try_clone()) else { continue };
                theirs.connections.lock().unwrap_or_else(PoisonError::into_inner).push(ours);
                let session = ServerConnection::new(Arc::clone(&tls)).expect("a sound configuration");
                let converse = Arc::clone(&converse);
                std::thread::spawn(move || {
                    let _ = connection.set_nodelay(true);
                    converse(&mut StreamOwned::new(session, connection));
                    let _ = to_end.shutdown(Shutdown::Both);
                });
            }
        });
        Self { address, open }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.open.ended.store(true, Ordering::Release);
        for connection in self.open.connections.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect(self.address);
    }
}
