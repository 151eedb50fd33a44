//! `serve --http`: MCP over Streamable HTTP, and everybody who must not get in.

mod places;

use crate::scripts::skill;
use crate::{SMALL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::Launch;
use skillcell_tests::http::{Connection, HttpServer, TOKEN, call};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

/// Longest a server may take to end.
const END: Duration = Duration::from_secs(1);

/// Largest body that a server takes, in bytes.
const BODY: usize = 4 << 20;

const STATELESS: &str = "2026-07-28";

fn ping(id: u64) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
    })
}

fn initialize(id: u64) -> Value {
    let client = json!({"name": "tests", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params})
}

fn still_answers(server: &HttpServer) {
    let found = server.call(1, "get_skill", json!({"context": "form validation"}));
    assert!(found.to_string().contains("Validate on submit."), "{found}; log:\n{}", server.session.log());
}

fn terminate(server: &HttpServer) {
    let id = server.session.process_id().to_string();
    assert!(std::process::Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
}

#[test]
fn a_client_with_a_handshake_is_served_on_one_connection() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let mut connection = server.connect();
    connection.send(&server.request().body(initialize(0).to_string()));
    let hello = connection.reply();
    assert_eq!((hello.status, hello.header("content-type")), (200, Some("application/json")), "{hello:?}");
    assert_eq!(hello.header("mcp-session-id").map(str::len), Some(32), "clients of this era expect one");
    assert_eq!(hello.json()["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(hello.json()["result"]["serverInfo"]["name"], "skillcell");
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    connection.send(&server.message("2025-11-25", &initialized));
    let accepted = connection.reply();
    assert_eq!((accepted.status, accepted.body.as_str()), (202, ""));
    connection.send(&server.message("2025-11-25", &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})));
    let tools = connection.reply().json()["result"]["tools"].clone();
    assert!(tools.as_array().unwrap().iter().any(|tool| tool["name"] == "get_skill"), "{tools}");
    let arguments = json!({"context": "form validation"});
    connection.send(&server.message("2025-11-25", &call(2, "get_skill", &arguments)));
    let found = connection.reply();
    assert!(found.body.contains("Validate on submit."), "{found:?}");
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        // Nothing is kept under the name of a session, so any will do.
        let request = server.message(version, &call(3, "skills_list", &json!({})));
        connection.send(&request.header("Mcp-Session-Id", version));
        let found = connection.reply().json();
        let structured = found["result"].get("structuredContent").is_some();
        assert_eq!(structured, version >= "2025-06-18", "{version}: {found}");
    }
}

#[test]
fn a_client_without_a_handshake_is_served_too() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let ask = |method: &str, mut params: Value| {
        params["_meta"] = meta();
        let message = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params});
        let reply = server.message(STATELESS, &message).reply();
        assert_eq!((reply.status, reply.header("content-type")), (200, Some("application/json")), "{reply:?}");
        assert_eq!(reply.json()["id"], method);
        reply.json()["result"].clone()
    };
    let discovered = ask("server/discover", json!({}));
    assert!(discovered["supportedVersions"].as_array().unwrap().contains(&json!(STATELESS)), "{discovered}");
    assert!(ask("tools/list", json!({}))["tools"].as_array().unwrap().len() > 3);
    let arguments = json!({"context": "form validation"});
    let found = ask("tools/call", json!({"name": "get_skill", "arguments": arguments}));
    assert_eq!(found["resultType"], "complete", "{found}");
    assert!(found.to_string().contains("Validate on submit."), "{found}");
}

#[test]
fn clients_with_the_same_ids_get_their_own_answers() {
    let folder = skill(&[("spin.sh", "while :; do :; done\n"), ("a.sh", "echo $SKILL_ARG_N\n")]);
    let server = serve(folder.path()).http();
    let run = |file: &str, n: usize| json!({"skill_path": "tool", "file": file, "args": {"n": n.to_string()}});
    // One of them holds the id for as long as the others ask.
    let endless = server.message("2025-11-25", &call(7, "run_script", &run("spin.sh", 0))).send();
    std::thread::scope(|scope| {
        for n in 1..=8 {
            let (client, run) = (*server, &run);
            scope.spawn(move || {
                let answer = client.call(7, "run_script", run("a.sh", n));
                assert_eq!(answer["id"], 7);
                let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
                assert!(text.contains(&format!("\"stdout\":\"{n}\\n\"")), "{n}: {text}");
            });
        }
    });
    endless.hang_up();
}

#[test]
fn sixty_four_busy_clients_are_never_told_to_wait() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    std::thread::scope(|scope| {
        for _ in 0..64 {
            let client = *server;
            scope.spawn(move || {
                let mut connection = client.connect();
                for id in 0..100 {
                    connection.send(&client.message("2025-11-25", &ping(id)));
                    let reply = connection.reply();
                    assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(id)), "{reply:?}");
                }
            });
        }
    });
    still_answers(&server);
}

#[test]
fn more_connections_than_places_wait_for_one() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let mut idle: Vec<_> = (0..560).map(|_| server.connect()).collect();
    let mut last = server.message("2025-11-25", &ping(1)).send();
    idle.truncate(100);
    assert_eq!(last.reply().status, 200);
    still_answers(&server);
}

#[test]
fn nobody_gets_in_without_the_token() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let right = server.message("2025-11-25", &ping(1));
    assert_eq!(right.reply().status, 200);
    assert_eq!(right.clone().header("authorization", &format!("bEARER {TOKEN}")).reply().status, 200);
    let wrong = [
        right.clone().without("authorization"),
        right.clone().header("authorization", TOKEN),
        right.clone().header("authorization", "Bearer"),
        right.clone().header("authorization", "Bearer wrong"),
        right.clone().header("authorization", &format!("Bearer {TOKEN}x")),
        right.clone().header("authorization", &format!("Bearer {}", TOKEN.to_uppercase())),
        right.clone().header("authorization", &format!("Basic {TOKEN}")),
        right.clone().without("authorization").line("GET /mcp HTTP/1.1"),
        right.clone().without("authorization").line(&format!("POST /mcp?token={TOKEN} HTTP/1.1")),
    ];
    for request in wrong {
        let reply = request.reply();
        assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some("Bearer")), "{reply:?}");
        assert_eq!(reply.header("connection"), Some("close"));
        assert!(!reply.body.contains(TOKEN));
    }
    // The answer comes although the body never does.
    let endless = right.clone().without("authorization").header("content-length", "1000");
    assert_eq!(endless.reply().status, 401);
    let endless = endless.body("").without("content-length").header("transfer-encoding", "chunked");
    assert_eq!(endless.reply().status, 401);
    still_answers(&server);
}

#[test]
fn whoever_guesses_is_told_to_wait_and_others_are_not() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let guess = server.message("2025-11-25", &ping(1)).header("authorization", "Bearer guess");
    let refused = (0..10_000).map(|_| guess.reply()).find(|reply| reply.status != 401).expect("a limit");
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")), "{refused:?}");
    still_answers(&server);
    server.session.wait_for_log("refused a request of 127.0.0.1: the bearer token is missing or wrong");
}

#[test]
fn another_name_or_another_page_is_refused() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let right = server.message("2025-11-25", &ping(1));
    let port = server.address().port();
    for host in [format!("localhost:{port}"), "127.0.0.1".to_owned(), format!("[::1]:{port}")] {
        assert_eq!(right.clone().header("host", &host).reply().status, 200, "{host}");
    }
    // A page at `http://rebound.example:PORT` whose name now means this machine sends exactly this.
    let rebound = format!("rebound.example:{port}");
    let origin = format!("http://{rebound}");
    assert_eq!(right.clone().header("host", &rebound).header("origin", &origin).reply().status, 403);
    for host in ["evil.example", "localhost:1", "localhost.evil.example", "127.0.0.1.nip.io", "0.0.0.0", ""] {
        assert_eq!(right.clone().header("host", host).reply().status, 403, "{host}");
    }
    for origin in ["http://localhost:6274", "https://127.0.0.1", "http://[::1]:3000"] {
        assert_eq!(right.clone().header("origin", origin).reply().status, 200, "{origin}");
    }
    for origin in ["null", "https://evil.example", "http://localhost.evil.example", "file://"] {
        let reply = right.clone().header("origin", origin).reply();
        assert_eq!(reply.status, 403, "{origin}");
        assert!(!reply.headers().any(|name| name.starts_with("access-control")), "{reply:?}");
    }
    assert_eq!(right.clone().without("host").reply().status, 400);
    let own = server.address().to_string();
    for (name, value) in [("Host", own.as_str()), ("Authorization", "Bearer x"), ("Origin", "http://localhost")] {
        assert_eq!(right.clone().header("origin", "http://localhost").also(name, value).reply().status, 400, "{name}");
    }
    assert_eq!(right.clone().line("POST http://evil.example/mcp HTTP/1.1").reply().status, 403);
    assert_eq!(right.clone().line(&format!("POST http://{own}/mcp HTTP/1.1")).reply().status, 200);
}

#[test]
fn bodies_have_a_limit_whichever_way_they_are_sent() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let padded = |size: usize| {
        let mut message = call(1, "skills_search", &json!({"query": ""}));
        let rest = size - message.to_string().len();
        message["params"]["arguments"]["query"] = json!("x".repeat(rest));
        server.message("2025-11-25", &message)
    };
    for size in [1_000, BODY] {
        for request in [padded(size), padded(size).chunked(9_999)] {
            let reply = request.reply();
            assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(1)), "{size}");
        }
    }
    assert_eq!(padded(BODY + 1).chunked(99_999).reply().status, 413);
    // The answer to an announcement that is too large does not wait for the body.
    let announced = server.request().header("content-length", &(BODY + 1).to_string()).reply();
    assert_eq!((announced.status, announced.header("connection")), (413, Some("close")), "{announced:?}");
    assert_eq!(server.request().header("content-length", "99999999999999999999999").reply().status, 400);
    still_answers(&server);
}

#[test]
fn a_body_that_is_no_message_gets_the_error_of_json_rpc() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    for (body, id, code) in [
        ("", Value::Null, -32700),
        ("{not json", Value::Null, -32700),
        ("42", Value::Null, -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Value::Null, -32600),
        (r#"{"jsonrpc":"1.0","id":901,"method":"ping"}"#, json!(901), -32600),
        (r#"{"jsonrpc":"2.0","id":"nine"}"#, json!("nine"), -32600),
    ] {
        let reply = server.request().body(body).reply();
        assert_eq!((reply.status, reply.header("content-type")), (400, Some("application/json")), "{body}: {reply:?}");
        assert_eq!((&reply.json()["id"], &reply.json()["error"]["code"]), (&id, &json!(code)), "{body}");
    }
    let deep = server.request().body(format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))).reply();
    assert_eq!((deep.status, &deep.json()["error"]["code"]), (400, &json!(-32700)));
    let right = server.message("2025-11-25", &ping(1));
    assert_eq!(right.clone().header("content-type", "text/plain").reply().status, 415);
    assert_eq!(right.clone().header("accept", "text/html").reply().status, 406);
    assert_eq!(right.clone().header("mcp-protocol-version", "1999-01-01").reply().status, 400);
    still_answers(&server);
}

#[test]
fn there_is_one_path_and_one_method() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let right = server.message("2025-11-25", &ping(1));
    for path in ["/", "/mcp/", "/MCP", "/mcp/../mcp", "/.well-known/oauth-protected-resource/mcp", "/%6dcp", "*"] {
        let reply = right.clone().line(&format!("POST {path} HTTP/1.1")).reply();
        assert_eq!(reply.status, 404, "{path}");
        let reply = right.clone().without("authorization").line(&format!("GET {path} HTTP/1.1")).reply();
        assert_eq!(reply.status, 404, "{path}");
    }
    for method in ["GET", "DELETE", "PUT", "OPTIONS", "PATCH", "INVENTED"] {
        let reply = right.clone().body("").line(&format!("{method} /mcp HTTP/1.1")).reply();
        assert_eq!((reply.status, reply.header("allow")), (405, Some("POST")), "{method}: {reply:?}");
        assert!(!reply.headers().any(|name| name.starts_with("access-control")), "{reply:?}");
    }
    let head = right.body("").line("HEAD /mcp HTTP/1.1").send().head();
    assert_eq!(head.status, 405);
}

#[test]
fn odd_http_ends_at_most_its_own_connection() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let right = server.message("2025-11-25", &ping(1));

    let mut pipelined = server.connect();
    pipelined.write(&[right.bytes(), right.bytes(), b"\x00\x01garbage\r\n\r\n".to_vec()].concat());
    assert_eq!([pipelined.reply().status, pipelined.reply().status, pipelined.reply().status], [200, 200, 400]);
    assert!(pipelined.is_closed());

    let mut old = right.clone().line("POST /mcp HTTP/1.0").send();
    let reply = old.reply();
    assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(1)));
    assert!(old.is_closed());
    assert_eq!(right.clone().without("host").line("POST /mcp HTTP/1.0").reply().status, 400);

    for bytes in [
        "GET\r\n\r\n".to_owned(),
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n".to_owned(),
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n".to_owned(),
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n".to_owned(),
        "\x16\x03\x01\x02\x00\x01\x00\x01\u{fc}\x03\x03".to_owned(),
    ] {
        let mut connection = server.connect();
        connection.write(bytes.as_bytes());
        assert_eq!(connection.reply().status, 400, "{bytes:?}");
        assert!(connection.is_closed(), "{bytes:?}");
    }
    let mut newer = server.connect();
    newer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert!(newer.is_closed());
    let long = right.clone().header("x-padding", &"x".repeat(20_000));
    assert_eq!(long.reply().status, 431);
    let smuggled = right.clone().also("Transfer-Encoding", "chunked").reply();
    assert!(smuggled.status >= 400, "{smuggled:?}");
    let bad_chunk = right.body("zz\r\n").without("content-length").header("transfer-encoding", "chunked").reply();
    assert_eq!(bad_chunk.status, 400);
    still_answers(&server);
}

fn run(file: &str, meta: Value) -> Value {
    let mut message = call(1, "run_script", &json!({"skill_path": "tool", "file": file, "args": {}}));
    message["params"]["_meta"] = meta;
    message
}

/// Asks for short runs until one has to wait, which means that all slots are taken.
fn first_that_waits(server: &HttpServer) -> Connection {
    loop {
        let mut next = server.message("2025-11-25", &run("a.sh", json!({"progressToken": "q"}))).send();
        assert_eq!(next.head().status, 200);
        let told = next.event().and_then(|event| event["params"]["message"].as_str().map(str::to_owned));
        if told.is_some_and(|told| told.starts_with("waiting for a free slot")) {
            return next;
        }
    }
}

#[test]
fn a_script_stops_when_its_client_goes_away() {
    let folder = skill(&[("spin.sh", "while :; do :; done\n"), ("a.sh", "echo ran\n")]);
    let server = serve(folder.path()).config("scripts: {runs_at_once: 1}").http();
    // One that is told how it goes has a stream of events; the other waits for the head of its answer.
    for meta in [json!({"progressToken": "p"}), json!({})] {
        let is_told = meta.get("progressToken").is_some();
        let mut endless = server.message("2025-11-25", &run("spin.sh", meta)).send();
        if is_told {
            assert_eq!(endless.head().header("content-type"), Some("text/event-stream"));
            let running = endless.event().unwrap();
            assert!(running["params"]["message"].as_str().unwrap().starts_with("running"), "{running}");
        }
        let mut next = first_that_waits(&server);
        endless.hang_up();
        let began = Instant::now();
        let answer = std::iter::from_fn(|| next.event()).find(|event| event["id"] == 1).unwrap();
        assert!(answer.to_string().contains("ran"), "{answer}");
        assert!(began.elapsed() < END, "{:?}", began.elapsed());
    }
}

#[test]
fn the_server_ends_in_time_whatever_is_open() {
    let folder = skill(&[("spin.sh", "while :; do :; done\n"), ("a.sh", "echo ran\n")]);
    let mut server = serve(folder.path()).config("scripts: {runs_at_once: 2}").http();
    let mut running = server.message("2025-11-25", &run("spin.sh", json!({"progressToken": "p"}))).send();
    assert_eq!(running.head().status, 200);
    running.event().unwrap();
    let mut silent = server.message("2025-11-25", &run("spin.sh", json!({}))).send();
    let mut waiting = first_that_waits(&server);
    let filter = json!({"toolsListChanged": true});
    let listen = json!({"jsonrpc": "2.0", "id": 2, "method": "subscriptions/listen", "params": {"notifications": filter, "_meta": meta()}});
    let mut listening = server.message(STATELESS, &listen).send();
    let head = listening.head();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/event-stream")), "{head:?}");
    assert_eq!(listening.event().unwrap()["method"], "notifications/subscriptions/acknowledged");
    let mut idle = server.connect();
    let mut half = server.connect();
    half.write(b"POST /mcp HTTP/1.1\r\nHost: loc");

    terminate(&server);
    let (status, took) = server.session.wait();
    assert!(status.success() && took < END, "{status} after {took:?}; log:\n{}", server.session.log());
    for stream in [&mut running, &mut waiting, &mut listening] {
        while stream.event().is_some() {}
    }
    assert!(idle.is_closed() && half.is_closed());
    assert_eq!(silent.reply().status, 503);
    let home = server.session.home().to_owned();
    let shown = Launch::bare(crate::SKILLCELL).with_home(&home).arg("audit").output();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert_eq!(shown.matches("tool spin.sh  exit 137").count(), 2, "{shown}");
}

#[test]
fn the_end_of_input_means_nothing() {
    let library = library(&SMALL);
    let mut server = serve(library.path()).http();
    server.session.close_input();
    still_answers(&server);
    terminate(&server);
    let (status, took) = server.session.wait();
    assert!(status.success() && took < END, "{status} after {took:?}");
    server.session.wait_for_log("shutting down");
}

#[test]
fn a_token_is_made_and_told_once_even_to_the_quiet() {
    let library = library(&SMALL);
    for flag in ["-q", "-vv"] {
        let server = serve(library.path()).arg("--http").arg(":0").arg(flag).listening();
        let log = server.session.log();
        let token = log.lines().find_map(|line| line.strip_prefix("token: ")).expect("nobody else knows it");
        assert_eq!(token.len(), 64, "{token}");
        let right = server.message("2025-11-25", &ping(1)).header("authorization", &format!("Bearer {token}"));
        assert_eq!(right.reply().status, 200);
        assert_eq!(right.header("authorization", &format!("Bearer {token}0")).reply().status, 401);
        assert_eq!(server.session.log().matches(token).count(), 1, "{}", server.session.log());
    }
}

#[test]
fn a_token_that_was_given_is_never_logged() {
    let library = library(&SMALL);
    let file = library.path().join("token");
    std::fs::write(&file, format!("{TOKEN}\nand a comment\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let launch = serve(library.path()).env("SKILLCELL_HTTP_TOKEN", "the file is the stronger one");
    let server = launch.arg("--http").arg("0").arg("--http-token-file").arg(&file).arg("-vv").listening();
    still_answers(&server);
    assert_eq!(server.message("2025-11-25", &ping(1)).header("origin", "null").reply().status, 403);
    assert!(!server.session.log().contains(TOKEN), "{}", server.session.log());
}

#[test]
fn what_would_not_be_safe_is_refused_with_a_hint() {
    let library = library(&SMALL);
    let file = library.path().join("token");
    std::fs::write(&file, TOKEN).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let file = file.to_str().unwrap();
    let refused = |arguments: &[&str], variable: &str, part: &str| {
        let launch = serve(library.path()).env("SKILLCELL_HTTP_TOKEN", variable);
        let output = arguments.iter().fold(launch, Launch::arg).output();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains(part), "{arguments:?}: {told}");
        assert!(!told.contains(TOKEN), "{told}");
    };
    refused(&["--http", "0.0.0.0:0"], TOKEN, "hint: say `--http 127.0.0.1:0`");
    refused(&["--http", "[::]:8080"], TOKEN, "--behind-tls-proxy --http-host NAME");
    refused(&["--http", "example.com:80"], TOKEN, "hint: say `--http 127.0.0.1:8080`");
    refused(&["--http", "0.0.0.0:0", "--behind-tls-proxy"], TOKEN, "hint: add `--http-host NAME`");
    let proxied = ["--http", "0", "--behind-tls-proxy", "--http-host"];
    refused(&[&proxied[..], &["https://x"]].concat(), TOKEN, "`https://x` is no name of a host");
    refused(&["--http", "0"], "short", "SKILLCELL_HTTP_TOKEN has fewer than 16 characters");
    refused(&["--http", "0", "--http-token-file", file], TOKEN, "hint: run `chmod go-rwx");
    refused(&["--http", "0", "--http-token-file", "/nowhere"], TOKEN, "/nowhere");
    refused(&["--http-token-file", file], TOKEN, "--http");
    refused(&["--http", "0", "--http-host", "a.example"], TOKEN, "--behind-tls-proxy");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    refused(&["--http", &taken.local_addr().unwrap().to_string()], TOKEN, "cannot listen on 127.0.0.1:");
}

#[test]
fn behind_a_proxy_the_server_has_the_names_of_the_proxy() {
    let library = library(&SMALL);
    let launch = serve(library.path()).env("SKILLCELL_HTTP_TOKEN", TOKEN).arg("--http").arg("0.0.0.0:0");
    let launch = launch.arg("--behind-tls-proxy").arg("--http-host").arg("Skills.example");
    let server = launch.arg("--http-host").arg("other.example:8443").listening();
    let right = server.message("2025-11-25", &ping(1));
    for (host, origin, status) in [
        ("skills.example", None, 200),
        ("skills.example", Some("https://skills.example"), 200),
        ("skills.example:443", Some("http://localhost:6274"), 200),
        ("other.example:8443", Some("https://other.example:8443"), 200),
        ("other.example", None, 403),
        ("skills.example", Some("http://skills.example"), 403),
        ("localhost", None, 403),
    ] {
        let request = right.clone().header("host", host);
        let request = origin.map(|origin| request.clone().header("origin", origin)).unwrap_or(request);
        assert_eq!(request.reply().status, status, "{host} {origin:?}");
    }
    assert_eq!(right.reply().status, 403, "its own address is no name");
}
