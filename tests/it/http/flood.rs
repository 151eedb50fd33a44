//! More connections than there are places.

use super::{STATELESS, meta, still_answers};
use crate::{SMALL, library, serve};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use skillcell_tests::eventually;
use skillcell_tests::http::{Connection, HttpServer};

/// The connections of a server, and how many of them may listen for changes.
const PLACES: usize = 512;
const MAX_LISTENERS: usize = PLACES / 2;

/// Lets this process open thousands of connections.
fn allow_many_files() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).expect("the own maximum");
}

fn listen(server: &HttpServer) -> Connection {
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta()});
    let listen = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
    server.message(STATELESS, &listen).send()
}

#[test]
fn half_open_connections_do_not_keep_clients_out() {
    allow_many_files();
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let mut listening = listen(&server);
    assert_eq!(listening.head().status, 200);
    assert_eq!(listening.event().unwrap()["method"], "notifications/subscriptions/acknowledged");
    let open = |text: &str| {
        let mut connection = server.connect();
        connection.write(text.as_bytes());
        connection
    };
    // Without anything, with a part of a head, and with a complete one that announces a body, but has no token.
    let without_token = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n";
    let texts = ["", "POST /mcp HTTP/1.1\r\nHost: loc", without_token];
    let mut half_open: Vec<Connection> = (0..1_800).map(|number| open(texts[number % texts.len()])).collect();
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..100).map(|_| scope.spawn(|| still_answers(&server))).collect();
        // Fewer than there are places, so none of the clients is ever the oldest without a request.
        half_open.extend((0..300).map(|number| open(texts[number % texts.len()])));
        for client in clients {
            client.join().unwrap();
        }
    });
    assert!(half_open[0].is_closed());
    let log = server.session.log();
    assert_eq!(log.matches("too many connections: ").count(), 1, "{log}");
    crate::write_files(library.path(), &[("new.md", "---\nkeywords: [new]\ndescription: New\n---\n\nNew.\n")]);
    assert_eq!(listening.event().unwrap()["method"], "notifications/tools/list_changed");
}

#[test]
fn listeners_leave_places_for_requests() {
    allow_many_files();
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let mut listening: Vec<Connection> = (0..MAX_LISTENERS).map(|_| listen(&server)).collect();
    for listener in &mut listening {
        assert_eq!(listener.head().status, 200);
    }
    let refused = listen(&server).reply();
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{refused:?}");
    assert_eq!(refused.body, "256 clients are listening, which is the most\n");
    still_answers(&server);
    listening.pop().unwrap().hang_up();
    eventually("a place is free again", || listen(&server).head().status == 200);
}
