//! Access control of the page.

use super::{Page, SKILLS, ui};
use crate::{SMALL, library};
use skillcell_tests::http::Reply;
use skillcell_tests::repository;

/// Headers of every answer, including refusals.
const SECURITY_HEADERS: [(&str, &str); 5] = [
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
    ("cache-control", "no-store"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

fn assert_guarded(reply: &Reply) {
    for (name, value) in SECURITY_HEADERS {
        assert_eq!(reply.header(name), Some(value), "{name}: {reply:?}");
    }
    let policy = reply.header("content-security-policy").unwrap_or_default();
    for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'"] {
        assert!(policy.contains(part), "{part}: {policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
    assert!(!reply.headers().any(|name| name.starts_with("access-control")), "{reply:?}");
}

/// Checks that the answer is a refusal with an empty body.
fn assert_refused(reply: &Reply, status: u16) {
    assert_eq!((reply.status, reply.body.as_str()), (status, ""), "{reply:?}");
    assert_guarded(reply);
}

#[test]
fn the_address_is_printed_once_and_never_logged() {
    let library = library(&SMALL);
    let mut page = Page::open(ui(library.path()).arg("-vv"));
    assert_eq!(page.token.len(), 64, "{}", page.token);
    assert!(page.token.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert!(page.client.address().ip().is_loopback());
    page.still_answers();
    assert_eq!(page.request_target("/wrong/").reply().status, 404);
    page.session.signal("TERM");
    page.session.wait();
    assert!(!page.session.log().contains(&page.token), "{}", page.session.log());
}

#[test]
fn every_file_of_the_page_is_served_verbatim() {
    let library = library(&SMALL);
    let page = Page::open(ui(library.path()));
    for entry in std::fs::read_dir(repository().join("host/ui")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let kind = match path.extension().unwrap().to_str().unwrap() {
            "html" => "text/html; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "svg" => "image/svg+xml",
            other => panic!("no media type for {other}"),
        };
        let path_below_token = if name == "index.html" { "" } else { name.as_str() };
        let reply = page.get(path_below_token);
        assert_eq!((reply.status, reply.header("content-type")), (200, Some(kind)), "{name}: {reply:?}");
        assert_eq!(reply.body, std::fs::read_to_string(&path).unwrap(), "{name}");
        assert!(!reply.body.contains("http://") || name == "icon.svg", "{name} refers to another host");
        assert!(!reply.body.contains("innerHTML") && !reply.body.contains("https://"), "{name}");
        assert_guarded(&reply);
        let head = page
            .request(path_below_token)
            .line(&format!("HEAD /{}/{path_below_token} HTTP/1.1", page.token))
            .send()
            .head();
        assert_eq!(head.status, 200, "{name}");
        assert_eq!(head.header("content-length"), Some(reply.body.len().to_string().as_str()), "{name}");
    }
    let moved = page.request_target(&format!("/{}", page.token)).reply();
    assert_eq!((moved.status, moved.header("location")), (308, Some(format!("/{}/", page.token).as_str())));
    for route in ["catalog", "problems", "scripts", "skill?name=pdf", "rank?task=form", "grants", "audit", "usage"] {
        assert_guarded(&page.get(&format!("api/{route}")));
    }
}

#[test]
fn without_the_token_nothing_is_served() {
    let library = library(&SMALL);
    let page = Page::open(ui(library.path()));
    let token = &page.token;
    let other = format!("{}{}", &token[1..], &token[..1]);
    for target in [
        "/".to_owned(),
        "/api/catalog".to_owned(),
        "/page.js".to_owned(),
        format!("/{}/", &token[1..]),
        format!("/{token}0/"),
        format!("/{}/", token.to_uppercase().replace(char::is_numeric, "0")),
        format!("/{other}/"),
        format!("//{token}/"),
        format!("/?token={token}"),
        format!("/?{token}/"),
        format!("/%{:02x}{}/", token.as_bytes()[0], &token[1..]),
        "*".to_owned(),
        format!("/x/../{token}/"),
    ] {
        assert_refused(&page.request_target(&target).reply(), 404);
        assert_refused(&page.request_target(&target).line(&format!("POST {target} HTTP/1.1")).reply(), 404);
    }
    assert_refused(&page.request_target("/").header("authorization", &format!("Bearer {token}")).reply(), 404);
    page.still_answers();
}

#[test]
fn with_the_token_only_the_page_is_served() {
    let library = library(&SMALL);
    let page = Page::open(ui(library.path()));
    for path in [
        "index.html",
        "api",
        "api/",
        "api/catalog/",
        "api/../page.js",
        "..",
        "../",
        "../../../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "..%2f..%2fetc/passwd",
        "/etc/passwd",
        "page.js/",
        "page.js%00",
        "PAGE.JS",
        "style.css/../page.js",
        "skills/forms.md",
        "favicon.ico",
    ] {
        assert_refused(&page.get(path), 404);
    }
    for method in ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "INVENTED"] {
        for path in ["", "api/catalog", "nothing"] {
            let reply = page.request(path).line(&format!("{method} /{}/{path} HTTP/1.1", page.token)).reply();
            assert_refused(&reply, 405);
            assert_eq!(reply.header("allow"), Some("GET, HEAD"));
        }
    }
    page.still_answers();
}

#[test]
fn foreign_host_names_and_origins_are_refused() {
    let library = library(&SMALL);
    let page = Page::open(ui(library.path()));
    let valid = page.request("api/catalog");
    let port = page.client.address().port();
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")] {
        assert_eq!(valid.clone().header("host", &host).reply().status, 200, "{host}");
        let own = valid.clone().header("origin", &format!("http://{host}"));
        assert_eq!(own.reply().status, 200, "{host}");
    }
    // A page at `http://rebound.example:PORT` whose name now resolves to this machine sends exactly this (DNS rebinding).
    for host in [format!("rebound.example:{port}"), "evil.example".to_owned(), "localhost:1".to_owned(), String::new()]
    {
        assert_refused(&valid.clone().header("host", &host).reply(), 403);
    }
    for origin in ["null", "https://evil.example", "http://localhost:1", "file://", "http://localhost.evil.example"] {
        assert_refused(&valid.clone().header("origin", origin).reply(), 403);
    }
    for origin in ["http://localhost".to_owned(), format!("https://localhost:{port}")] {
        assert_refused(&valid.clone().header("origin", &origin).reply(), 403);
    }
    assert_refused(&valid.clone().line(&format!("GET http://evil.example/{}/ HTTP/1.1", page.token)).reply(), 403);
    assert_refused(&valid.clone().without("host").reply(), 400);
    assert_refused(&valid.clone().also("host", &format!("localhost:{port}")).reply(), 400);
    assert_refused(&valid.clone().also("origin", "null").also("origin", "null").reply(), 400);
    page.still_answers();
}

#[test]
fn malformed_and_slow_clients_do_not_disturb_others() {
    let library = library(&SKILLS);
    let page = Page::open(ui(library.path()));
    let mut half = page.client.connect();
    half.write(format!("GET /{}/api/cat", page.token).as_bytes());
    let mut unread: Vec<_> = (0..20).map(|_| page.request("style.css").send()).collect();
    let long = page.get(&format!("api/skill?name={}", "x".repeat(20_000)));
    assert!(matches!(long.status, 414 | 431), "{long:?}");
    let endless = page.request("api/catalog").header("content-length", "1000000").send().head();
    assert_eq!(endless.status, 200, "the body is not read");
    for query in ["", "?", "?name", "?name=", "?name=%", "?name=%ff%fe", "?name=%00", "?nam=x&&=", "?name=a&name=b"] {
        let reply = page.get(&format!("api/skill{query}"));
        assert!(matches!(reply.status, 400 | 404), "{query}: {reply:?}");
        assert!(reply.json()["error"].is_string(), "{query}: {reply:?}");
    }
    for query in ["", "?task=", "?task=%20%0a"] {
        assert_eq!(page.get(&format!("api/rank{query}")).status, 400, "{query}");
    }
    for query in [
        "?last=",
        "?last=-1",
        "?last=99999999999999999999",
        "?last=x",
        "?last=0",
        "?skip=-1",
        "?skip=99999999999999999999",
        "?skip=18446744073709551615",
        "?only=nothing",
        "?find=%00%ff",
        "?find=%e2%80%ae%3cb%3e",
    ] {
        assert_eq!(page.get(&format!("api/audit{query}")).status, 200, "{query}");
    }
    assert_eq!(unread.pop().unwrap().reply().status, 200);
    page.still_answers();
}
