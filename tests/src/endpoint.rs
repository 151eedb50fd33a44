//! An endpoint for analytics events: an HTTP server that does what a test orders.

use crate::PATIENCE;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// What to do with a request.
#[derive(Debug, Clone)]
pub enum Order {
    Take,
    /// Answer with this status.
    Refuse(u16),
    /// Accept requests of up to this many bytes, and answer others with 413.
    TakeUpTo(usize),
    /// Send nothing until the client gives up.
    Hang,
    /// Accept the events, and answer only after the client gave up.
    TakeLate,
    /// Accept the events, and close the connection without an answer.
    TakeAndClose,
    /// Close the connection without an answer.
    Close,
    /// Redirect to another address.
    Redirect(String),
    /// Accept the events, and send an endless answer.
    Flood,
}

/// What was received so far.
#[derive(Default)]
pub struct Received {
    /// The bodies of all requests, accepted or not.
    pub requests: Vec<Value>,
    /// Their heads.
    pub heads: Vec<String>,
    /// Every accepted event by its id, and how often it was accepted.
    pub taken: BTreeMap<String, (Value, usize)>,
    /// Requests in flight, and the maximum there ever were.
    open: usize,
    pub most_open: usize,
}

type Orders = dyn Fn(usize) -> Order + Send + Sync;

/// A server on a free port of this machine.
pub struct Endpoint {
    address: SocketAddr,
    received: Arc<(Mutex<Received>, Condvar)>,
}

impl Endpoint {
    /// Accepts everything.
    pub fn start() -> Self {
        Self::with_orders(|_| Order::Take)
    }

    /// Calls `orders` with the number of each request, counted from 0.
    pub fn with_orders(orders: impl Fn(usize) -> Order + Send + Sync + 'static) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").expect("a free port"), orders)
    }

    /// Answers on a port that was bound before.
    pub fn on(listener: TcpListener, orders: impl Fn(usize) -> Order + Send + Sync + 'static) -> Self {
        let address = listener.local_addr().expect("a bound port");
        let received: Arc<(Mutex<Received>, Condvar)> = Arc::default();
        let (theirs, orders): (_, Arc<Orders>) = (Arc::clone(&received), Arc::new(orders));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (received, orders) = (Arc::clone(&theirs), Arc::clone(&orders));
                // A client may disconnect at any time.
                std::thread::spawn(move || answer(stream, &received, &*orders).ok());
            }
        });
        Self { address, received }
    }

    /// Its URL, with a secret in the path and the query.
    pub fn url(&self) -> String {
        format!("http://{}/secret-path?key=secret-key", self.address)
    }

    pub fn received(&self) -> MutexGuard<'_, Received> {
        self.received.0.lock().unwrap()
    }

    /// Waits until a condition on what was received holds.
    pub fn wait(&self, what: &str, until: impl Fn(&Received) -> bool) -> MutexGuard<'_, Received> {
        let (received, changed) = &*self.received;
        let waited = changed.wait_timeout_while(received.lock().unwrap(), PATIENCE, |received| !until(received));
        let (received, timeout) = waited.unwrap();
        let seen = (received.requests.len(), received.taken.len());
        assert!(!timeout.timed_out(), "{what}: received only {} requests with {} events", seen.0, seen.1);
        received
    }
}

fn answer(stream: TcpStream, received: &(Mutex<Received>, Condvar), orders: &Orders) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream);
    let (head, body) = request(&mut reader)?;
    let length = body.len();
    let body: Value = serde_json::from_slice(&body).unwrap_or_else(|error| Value::String(error.to_string()));
    let order = {
        let mut received = received.0.lock().unwrap();
        let order = match orders(received.requests.len()) {
            Order::TakeUpTo(most) if length <= most => Order::Take,
            Order::TakeUpTo(_) => Order::Refuse(413),
            order => order,
        };
        if matches!(order, Order::Take | Order::TakeLate | Order::TakeAndClose | Order::Flood) {
            for event in body["events"].as_array().into_iter().flatten() {
                let id = event["id"].as_str().unwrap_or_default().to_owned();
                received.taken.entry(id).or_insert_with(|| (event.clone(), 0)).1 += 1;
            }
        }
        received.requests.push(body);
        received.heads.push(head);
        received.open += 1;
        received.most_open = received.most_open.max(received.open);
        order
    };
    received.1.notify_all();
    let done = obey(&mut reader, &order, || received.0.lock().unwrap().open -= 1);
    received.1.notify_all();
    done
}

/// Carries out an order. Calls `before_last_word` before the client can know that its request is done.
fn obey(reader: &mut BufReader<TcpStream>, order: &Order, before_last_word: impl FnOnce()) -> std::io::Result<()> {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
    let say = |reader: &mut BufReader<TcpStream>, text: &str| reader.get_mut().write_all(text.as_bytes());
    if matches!(order, Order::Hang | Order::TakeLate) {
        // Returns when the client closes the connection.
        let _ = reader.read(&mut [0; 1]);
    }
    before_last_word();
    match order {
        Order::Take | Order::TakeLate => say(reader, ok),
        Order::Refuse(status) => say(reader, &format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n")),
        Order::Redirect(to) => {
            say(reader, &format!("HTTP/1.1 307 Elsewhere\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"))
        }
        Order::Flood => {
            say(reader, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")?;
            loop {
                reader.get_mut().write_all(&[b'x'; 8_192])?;
            }
        }
        Order::Hang | Order::Close | Order::TakeAndClose | Order::TakeUpTo(_) => Ok(()),
    }
}

/// Reads the head of a request and its body.
fn request(reader: &mut BufReader<TcpStream>) -> std::io::Result<(String, Vec<u8>)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
    let length =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    Ok((head, body))
}
