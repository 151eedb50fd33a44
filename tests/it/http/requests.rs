//! Invalid requests.

use super::{ping, still_answers};
use crate::{SMALL, library, serve};
use serde_json::{Value, json};
use skillcell_tests::http::call;

/// The limit of the server for a body, in bytes.
const MAX_BODY: usize = 4 << 20;

#[test]
fn the_body_limit_applies_to_every_transfer_encoding() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let padded = |size: usize| {
        let mut message = call(1, "skills_search", &json!({"query": ""}));
        let rest = size - message.to_string().len();
        message["params"]["arguments"]["query"] = json!("x".repeat(rest));
        server.message("2025-11-25", &message)
    };
    for size in [1_000, MAX_BODY] {
        for request in [padded(size), padded(size).chunked(9_999)] {
            let reply = request.reply();
            assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(1)), "{size}");
        }
    }
    assert_eq!(padded(MAX_BODY + 1).chunked(99_999).reply().status, 413);
    // A content length that is too large is refused without waiting for the body.
    let announced = server.request().header("content-length", &(MAX_BODY + 1).to_string()).reply();
    assert_eq!((announced.status, announced.header("connection")), (413, Some("close")), "{announced:?}");
    assert_eq!(server.request().header("content-length", "99999999999999999999999").reply().status, 400);
    still_answers(&server);
}

#[test]
fn a_body_that_is_not_a_message_gets_a_json_rpc_error() {
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
    let valid = server.message("2025-11-25", &ping(1));
    assert_eq!(valid.clone().header("content-type", "text/plain").reply().status, 415);
    assert_eq!(valid.clone().header("accept", "text/html").reply().status, 406);
    assert_eq!(valid.clone().header("mcp-protocol-version", "1999-01-01").reply().status, 400);
    still_answers(&server);
}

#[test]
fn only_one_path_and_one_method_are_served() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let valid = server.message("2025-11-25", &ping(1));
    for path in ["/", "/mcp/", "/MCP", "/mcp/../mcp", "/.well-known/oauth-protected-resource/mcp", "/%6dcp", "*"] {
        let reply = valid.clone().line(&format!("POST {path} HTTP/1.1")).reply();
        assert_eq!(reply.status, 404, "{path}");
        let reply = valid.clone().without("authorization").line(&format!("GET {path} HTTP/1.1")).reply();
        assert_eq!(reply.status, 404, "{path}");
    }
    for method in ["GET", "DELETE", "PUT", "OPTIONS", "PATCH", "INVENTED"] {
        let reply = valid.clone().body("").line(&format!("{method} /mcp HTTP/1.1")).reply();
        assert_eq!((reply.status, reply.header("allow")), (405, Some("POST")), "{method}: {reply:?}");
        assert!(!reply.headers().any(|name| name.starts_with("access-control")), "{reply:?}");
    }
    let head = valid.body("").line("HEAD /mcp HTTP/1.1").send().head();
    assert_eq!(head.status, 405);
}

#[test]
fn malformed_http_ends_only_its_own_connection() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let valid = server.message("2025-11-25", &ping(1));

    let mut pipelined = server.connect();
    pipelined.write(&[valid.bytes(), valid.bytes(), b"\x00\x01garbage\r\n\r\n".to_vec()].concat());
    assert_eq!([pipelined.reply().status, pipelined.reply().status, pipelined.reply().status], [200, 200, 400]);
    assert!(pipelined.is_closed());

    let mut old = valid.clone().line("POST /mcp HTTP/1.0").send();
    let reply = old.reply();
    assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(1)));
    assert!(old.is_closed());
    assert_eq!(valid.clone().without("host").line("POST /mcp HTTP/1.0").reply().status, 400);

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
    let long = valid.clone().header("x-padding", &"x".repeat(20_000));
    assert_eq!(long.reply().status, 431);
    let smuggled = valid.clone().also("Transfer-Encoding", "chunked").reply();
    assert!(smuggled.status >= 400, "{smuggled:?}");
    let bad_chunk = valid.body("zz\r\n").without("content-length").header("transfer-encoding", "chunked").reply();
    assert_eq!(bad_chunk.status, 400);
    still_answers(&server);
}
