//! `serve --http`: MCP over Streamable HTTP, and access control.

mod access;
mod flood;
mod shutdown;
mod local_paths;
mod requests;

use crate::scripts::skill;
use crate::{SMALL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::http::{HttpServer, call};

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

#[test]
fn a_client_with_a_handshake_is_served_on_one_connection() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let mut connection = server.connect();
    connection.send(&server.request().body(initialize(0).to_string()));
    let handshake = connection.reply();
    assert_eq!((handshake.status, handshake.header("content-type")), (200, Some("application/json")), "{handshake:?}");
    assert_eq!(handshake.header("mcp-session-id").map(str::len), Some(32), "clients of this version expect one");
    assert_eq!(handshake.json()["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(handshake.json()["result"]["serverInfo"]["name"], "skillcell");
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
        // Sessions have no state, so any id is accepted.
        let request = server.message(version, &call(3, "skills_list", &json!({})));
        connection.send(&request.header("Mcp-Session-Id", version));
        let found = connection.reply().json();
        let structured = found["result"].get("structuredContent").is_some();
        assert_eq!(structured, version >= "2025-06-18", "{version}: {found}");
    }
}

#[test]
fn a_client_without_a_handshake_is_served() {
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
    // One client has a request with this id in flight while the others use it.
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
fn sixty_four_busy_clients_are_never_rate_limited() {
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
fn connections_beyond_the_limit_wait_for_a_slot() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let mut idle: Vec<_> = (0..560).map(|_| server.connect()).collect();
    let mut last = server.message("2025-11-25", &ping(1)).send();
    idle.truncate(100);
    assert_eq!(last.reply().status, 200);
    still_answers(&server);
}

fn run(file: &str, meta: Value) -> Value {
    let mut message = call(1, "run_script", &json!({"skill_path": "tool", "file": file, "args": {}}));
    message["params"]["_meta"] = meta;
    message
}
