//! `skillcell ui`: the page, its API, and access control.

mod access;
mod answers;
mod libraries;
mod record;
mod shutdown;

use crate::SKILLCELL;
use serde_json::Value;
use skillcell_tests::http::{Client, HttpRequest, Reply};
use skillcell_tests::{Launch, MAX_WAIT, PATIENCE, Session};
use std::path::Path;
use std::time::Instant;

/// Skills that inherit, one that does not, and one with a script that declares needs.
const SKILLS: [(&str, &str); 6] = [
    ("_root.md", "---\nkeywords: [everything]\ndescription: All\n---\nHouse rules.\n"),
    (
        "ui/_index.md",
        "---\nkeywords: [screen]\ndescription: Screens\nassets:\n  - {file: base.css, description: d, type: template}\n---\nMind the keyboard.\n",
    ),
    ("ui/_index/base.css", "body {}\n"),
    ("ui/login.md", "---\nkeywords: [login, form]\ndescription: Sign-in screens\n---\nAsk for a password.\n"),
    (
        "tool/SKILL.md",
        "---\nname: tool\ndescription: Runs things\nscripts:\n  - file: a.sh\n    execution: server\n    description: does it\n    \
         args: [{name: n, description: how often, required: true}]\n    needs: {env: [TOKEN], hosts: [api.example.com]}\n---\nRun it.\n",
    ),
    ("tool/a.sh", "echo ran\n"),
];

/// A server of the page.
pub struct Page {
    pub session: Session,
    client: Client,
    token: String,
}

/// Prepares the page for the skills of a folder.
fn ui(folder: &Path) -> Launch {
    Launch::bare(SKILLCELL).arg("ui").arg(folder)
}

impl Page {
    pub fn open(launch: Launch) -> Self {
        let mut session = launch.silent();
        let line = session.next_message()["not a message"].take();
        let line = line.as_str().unwrap_or_else(|| panic!("no address: {line}; log:\n{}", session.log()));
        let rest = line.strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        let (address, token) = rest.and_then(|rest| rest.split_once('/')).unwrap_or_else(|| panic!("{line}"));
        let client = Client::at(address.parse().unwrap_or_else(|_| panic!("{line}")));
        Self { session, client, token: token.to_owned() }
    }

    /// Prepares a browser's request for a path below the token.
    fn request(&self, path: &str) -> HttpRequest {
        self.request_target(&format!("/{}/{path}", self.token))
    }

    fn request_target(&self, target: &str) -> HttpRequest {
        let bare = self.client.request().without("authorization").without("content-type");
        bare.line(&format!("GET {target} HTTP/1.1"))
    }

    /// Gets an answer, and retries if it took so long that it may be stale.
    fn get(&self, path: &str) -> Reply {
        let started = Instant::now();
        loop {
            let sent = Instant::now();
            let reply = self.request(path).reply();
            if sent.elapsed() < MAX_WAIT || started.elapsed() > PATIENCE {
                return reply;
            }
        }
    }

    pub fn json(&self, path: &str) -> Value {
        let reply = self.get(path);
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")), "{path}: {reply:?}");
        reply.json()
    }

    fn still_answers(&self) {
        assert!(self.json("api/catalog")["skills"].is_u64(), "log:\n{}", self.session.log());
    }
}

/// Returns a field of all entries of a list.
fn field_of_all<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|entry| entry[field].as_str().unwrap()).collect()
}
