//! Access control: tokens, host names and origins, and how the server reports them when it starts.

use super::{ping, still_answers};
use crate::{SMALL, library, serve};
use skillcell_tests::Launch;
use skillcell_tests::http::{Connection, TOKEN};
use std::os::unix::fs::PermissionsExt;

#[test]
fn requests_without_the_token_are_refused() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let valid = server.message("2025-11-25", &ping(1));
    assert_eq!(valid.reply().status, 200);
    assert_eq!(valid.clone().header("authorization", &format!("bEARER {TOKEN}")).reply().status, 200);
    let invalid = [
        valid.clone().without("authorization"),
        valid.clone().header("authorization", TOKEN),
        valid.clone().header("authorization", "Bearer"),
        valid.clone().header("authorization", "Bearer wrong"),
        valid.clone().header("authorization", &format!("Bearer {TOKEN}x")),
        valid.clone().header("authorization", &format!("Bearer {}", TOKEN.to_uppercase())),
        valid.clone().header("authorization", &format!("Basic {TOKEN}")),
        valid.clone().without("authorization").line("GET /mcp HTTP/1.1"),
        valid.clone().without("authorization").line(&format!("POST /mcp?token={TOKEN} HTTP/1.1")),
    ];
    for request in invalid {
        let reply = request.reply();
        assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some("Bearer")), "{reply:?}");
        assert_eq!(reply.header("connection"), Some("close"));
        assert!(!reply.body.contains(TOKEN));
    }
    // The answer does not wait for the body, which never comes.
    let endless = valid.clone().without("authorization").header("content-length", "1000");
    assert_eq!(endless.reply().status, 401);
    let endless = endless.body("").without("content-length").header("transfer-encoding", "chunked");
    assert_eq!(endless.reply().status, 401);
    still_answers(&server);
}

#[test]
fn clients_that_guess_tokens_are_rate_limited_and_others_are_not() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let guess = server.message("2025-11-25", &ping(1)).header("authorization", "Bearer guess");
    // All at the same time, so that they exceed the rate limit on any machine.
    let mut sent: Vec<_> = (0..100).map(|_| guess.send()).collect();
    let refused = sent.iter_mut().map(Connection::reply).find(|reply| reply.status != 401).expect("a limit");
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("1")), "{refused:?}");
    still_answers(&server);
    server.session.wait_for_log("refused a request from 127.0.0.1: the bearer token is missing or wrong");
}

#[test]
fn foreign_host_names_and_origins_are_refused() {
    let library = library(&SMALL);
    let server = serve(library.path()).http();
    let valid = server.message("2025-11-25", &ping(1));
    let port = server.address().port();
    for host in [format!("localhost:{port}"), "127.0.0.1".to_owned(), format!("[::1]:{port}")] {
        assert_eq!(valid.clone().header("host", &host).reply().status, 200, "{host}");
    }
    // A page at `http://rebound.example:PORT` whose name now resolves to this machine sends exactly this (DNS rebinding).
    let rebound = format!("rebound.example:{port}");
    let origin = format!("http://{rebound}");
    assert_eq!(valid.clone().header("host", &rebound).header("origin", &origin).reply().status, 403);
    for host in ["evil.example", "localhost:1", "localhost.evil.example", "127.0.0.1.nip.io", "0.0.0.0", ""] {
        assert_eq!(valid.clone().header("host", host).reply().status, 403, "{host}");
    }
    for origin in ["http://localhost:6274", "https://127.0.0.1", "http://[::1]:3000"] {
        assert_eq!(valid.clone().header("origin", origin).reply().status, 200, "{origin}");
    }
    for origin in ["null", "https://evil.example", "http://localhost.evil.example", "file://"] {
        let reply = valid.clone().header("origin", origin).reply();
        assert_eq!(reply.status, 403, "{origin}");
        assert!(!reply.headers().any(|name| name.starts_with("access-control")), "{reply:?}");
    }
    assert_eq!(valid.clone().without("host").reply().status, 400);
    let own_address = server.address().to_string();
    for (name, value) in [("Host", own_address.as_str()), ("Authorization", "Bearer x"), ("Origin", "http://localhost")]
    {
        assert_eq!(valid.clone().header("origin", "http://localhost").also(name, value).reply().status, 400, "{name}");
    }
    assert_eq!(valid.clone().line("POST http://evil.example/mcp HTTP/1.1").reply().status, 403);
    assert_eq!(valid.clone().line(&format!("POST http://{own_address}/mcp HTTP/1.1")).reply().status, 200);
}

#[test]
fn a_token_is_generated_and_printed_once_even_with_quiet() {
    let library = library(&SMALL);
    for flag in ["-q", "-vv"] {
        let server = serve(library.path()).arg("--http").arg(":0").arg(flag).listening();
        let log = server.session.log();
        let token = log.lines().find_map(|line| line.strip_prefix("token: ")).expect("the token is printed");
        assert_eq!(token.len(), 64, "{token}");
        let valid = server.message("2025-11-25", &ping(1)).header("authorization", &format!("Bearer {token}"));
        assert_eq!(valid.reply().status, 200);
        assert_eq!(valid.header("authorization", &format!("Bearer {token}0")).reply().status, 401);
        assert_eq!(server.session.log().matches(token).count(), 1, "{}", server.session.log());
    }
}

#[test]
fn a_configured_token_is_never_logged() {
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
fn unsafe_options_are_refused_with_a_hint() {
    let library = library(&SMALL);
    let file = library.path().join("token");
    std::fs::write(&file, TOKEN).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let file = file.to_str().unwrap();
    let refused = |arguments: &[&str], variable: &str, part: &str| {
        let launch = serve(library.path()).env("SKILLCELL_HTTP_TOKEN", variable);
        let output = arguments.iter().fold(launch, Launch::arg).output();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(part), "{arguments:?}: {stderr}");
        assert!(!stderr.contains(TOKEN), "{stderr}");
    };
    refused(&["--http", "0.0.0.0:0"], TOKEN, "hint: use `--http 127.0.0.1:0`");
    refused(&["--http", "[::]:8080"], TOKEN, "--behind-tls-proxy --http-host NAME");
    refused(&["--http", "example.com:80"], TOKEN, "hint: use `--http 127.0.0.1:8080`");
    refused(&["--http", "0.0.0.0:0", "--behind-tls-proxy"], TOKEN, "hint: add `--http-host NAME`");
    let proxied = ["--http", "0", "--behind-tls-proxy", "--http-host"];
    refused(&[&proxied[..], &["https://x"]].concat(), TOKEN, "`https://x` is not a host name");
    refused(&["--http", "0"], "short", "SKILLCELL_HTTP_TOKEN has fewer than 16 characters");
    refused(&["--http", "0", "--http-token-file", file], TOKEN, "hint: run `chmod go-rwx");
    refused(&["--http", "0", "--http-token-file", "/nowhere"], TOKEN, "/nowhere");
    refused(&["--http-token-file", file], TOKEN, "--http");
    refused(&["--http", "0", "--http-host", "a.example"], TOKEN, "--behind-tls-proxy");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    refused(&["--http", &taken.local_addr().unwrap().to_string()], TOKEN, "cannot listen on 127.0.0.1:");
}

#[test]
fn behind_a_proxy_the_names_of_the_proxy_are_accepted() {
    let library = library(&SMALL);
    let launch = serve(library.path()).env("SKILLCELL_HTTP_TOKEN", TOKEN).arg("--http").arg("0.0.0.0:0");
    let launch = launch.arg("--behind-tls-proxy").arg("--http-host").arg("Skills.example");
    let server = launch.arg("--http-host").arg("other.example:8443").listening();
    let valid = server.message("2025-11-25", &ping(1));
    for (host, origin, status) in [
        ("skills.example", None, 200),
        ("skills.example", Some("https://skills.example"), 200),
        ("skills.example:443", Some("http://localhost:6274"), 200),
        ("other.example:8443", Some("https://other.example:8443"), 200),
        ("other.example", None, 403),
        ("skills.example", Some("http://skills.example"), 403),
        ("localhost", None, 403),
    ] {
        let request = valid.clone().header("host", host);
        let request = origin.map(|origin| request.clone().header("origin", origin)).unwrap_or(request);
        assert_eq!(request.reply().status, status, "{host} {origin:?}");
    }
    assert_eq!(valid.reply().status, 403, "its own address is not accepted as a name");
}
