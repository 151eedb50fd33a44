//! Recorded answers of a service, for tests without a network.
//!
//! Each `*.json` file of a folder contains one exchange or an array of them:
//!
//! ```json
//! {
//!   "request": "GET /repos/octo-org/hello?page=2",
//!   "having": "text that the body of the request must hold, if there is one",
//!   "status": 200,
//!   "headers": {"link": "<{address}/repos/octo-org/hello?page=3>; rel=\"next\""},
//!   "body": {"any": "JSON"},
//!   "text": "or a text that is not JSON"
//! }
//! ```
//!
//! The path is relative to the address of the service, which `{address}` stands for in headers and bodies.

use crate::QueryError;
use crate::http::{Head, Http, Receive, Request};
use crate::json::{Json, Value};
use std::cell::RefCell;
use std::path::Path;

/// A service with recorded answers only.
pub struct Recorded {
    address: String,
    exchanges: Vec<Value>,
    requests: RefCell<Vec<Request>>,
}

impl Recorded {
    /// Reads all exchanges of a folder.
    pub fn open(folder: impl AsRef<Path>, address: &str) -> Self {
        let folder = folder.as_ref();
        let listing = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut files: Vec<_> = listing.map(|entry| entry.expect("the folder can be listed").path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        let mut exchanges = Vec::new();
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a recorded answer can be read");
            match serde_json::from_str(&text) {
                Ok(Value::Array(several)) => exchanges.extend(several),
                Ok(one) => exchanges.push(one),
                Err(error) => panic!("{}: {error}", file.display()),
            }
        }
        Self { address: address.to_owned(), exchanges, requests: RefCell::default() }
    }

    /// Returns a service that gives the same answer to every request.
    pub fn always(status: u16, body: &str) -> Self {
        let exchange = serde_json::json!({"request": "*", "status": status, "text": body});
        Self { address: String::new(), exchanges: vec![exchange], requests: RefCell::default() }
    }

    /// Returns all requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.borrow().clone()
    }

    fn find(&self, request: &Request) -> Option<&Value> {
        let path = request.address.strip_prefix(&self.address)?;
        let line = format!("{} {path}", request.method.name());
        let body = String::from_utf8_lossy(&request.body);
        self.exchanges.iter().find(|exchange| {
            exchange.text("request").is_some_and(|known| known == line || known == "*")
                && exchange.text("having").is_none_or(|part| body.contains(part))
        })
    }
}

impl Http for Recorded {
    fn stream(&self, request: &Request, receive: &mut Receive) -> Result<Head, QueryError> {
        self.requests.borrow_mut().push(request.clone());
        let unknown =
            || QueryError::Unreachable(format!("nothing recorded for {} {}", request.method.name(), request.address));
        let exchange = self.find(request).ok_or_else(unknown)?;
        let filled = |text: &str| text.replace("{address}", &self.address);
        let headers = exchange.at("headers").and_then(Value::as_object).into_iter().flatten();
        let headers = headers.map(|(name, value)| (name.clone(), filled(value.as_str().unwrap_or_default()))).collect();
        let status = exchange.number("status").and_then(|status| u16::try_from(status).ok()).unwrap_or(200);
        let head = Head { status, headers };
        let body = match (exchange.get("text"), exchange.get("body")) {
            (Some(text), _) => text.as_str().unwrap_or_default().to_owned(),
            (None, Some(body)) => body.to_string(),
            (None, None) => String::new(),
        };
        receive(&head, filled(&body).as_bytes())?;
        Ok(head)
    }
}

/// Compares a text with a file, or writes the file if the variable `BLESS` is set.
#[expect(clippy::disallowed_methods, reason = "a switch for tests, as in the golden cases of the server")]
pub fn golden(file: impl AsRef<Path>, text: &str) {
    let file = file.as_ref();
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("the folder can be made");
        std::fs::write(file, format!("{text}\n")).expect("the file can be written");
        return;
    }
    let expected = std::fs::read_to_string(file)
        .unwrap_or_else(|error| panic!("{}: {error}; write it with BLESS=1", file.display()));
    assert_eq!(text, expected.trim_end_matches('\n'), "{} differs; accept it with BLESS=1", file.display());
}
