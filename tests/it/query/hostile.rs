//! A hostile component: everything it may not do is refused, reported in the answer, and recorded.

use super::hostile_scene::HostileScene;
use super::scene::{Options, Scene, token};
use crate::still_answers;
use base64::engine::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use skillcell_tests::component;
use skillcell_tests::git_server::Authority;
use skillcell_tests::services::{Answer, Misbehavior, Service};

#[test]
fn no_other_host_port_or_address_is_reached() {
    let mut hostile = HostileScene::start();
    let other = Service::start(&hostile.scene.authority);
    let port = hostile.service.port();
    for (address, refusal) in [
        ("https://evil.example/".to_owned(), "connect to `evil.example:443`: this host is not granted".to_owned()),
        (other.address(), format!("connect to `localhost:{}`: this host is not granted", other.port())),
        ("https://localhost/".to_owned(), "connect to `localhost:443`: this host is not granted".to_owned()),
        (hostile.service.address_at("127.0.0.1"), format!("connect to `127.0.0.1:{port}`: this host is not granted")),
        (hostile.service.address_at("[::1]"), format!("connect to `[::1]:{port}`: this host is not granted")),
        ("https://10.0.0.1/".to_owned(), "connect to `10.0.0.1:443`: this host is not granted".to_owned()),
        ("http://169.254.169.254/".to_owned(), "connect to `169.254.169.254:80`: this host is not granted".to_owned()),
        (
            hostile.service.address_at("127.1"),
            format!("connect to `127.1:{port}`: its address is private, and the grant does not say `private:127.1`"),
        ),
        ("http://api.example.com/".to_owned(), "connect to `api.example.com:80`: `http` is not encrypted".to_owned()),
        (
            format!("https://me:x@localhost:{port}/"),
            format!("connect to `localhost:{port}` with a user name: only the gate authenticates requests"),
        ),
        ("https://localhost:99999/".to_owned(), "connect to `localhost:99999`: not a valid host and port".to_owned()),
    ] {
        hostile.assert_denied(&json!({"address": address}), &refusal);
    }
    assert!(other.requests().is_empty() && hostile.service.requests().is_empty());
    let github = hostile.scene.service("github");
    let refusal = format!("connect to `localhost:{}`: this host is not granted", github.port());
    let request = json!({"address": github.address()});
    hostile.assert_denied(&request, &refusal);
    assert!(hostile.scene.service("github").requests().is_empty(), "the token of another integration is out of reach");
    let (outcome, _) = hostile.send(&json!({"address": "ftp://localhost/"}));
    assert!(outcome["error"].is_string(), "{outcome}");
}

#[test]
fn a_redirect_cannot_leave_the_granted_hosts() {
    let mut hostile = HostileScene::start();
    let other = Service::start(&hostile.scene.authority);
    for (target, refusal) in [
        (other.address(), format!("connect to `localhost:{}`: this host is not granted", other.port())),
        ("https://evil.example/".to_owned(), "connect to `evil.example:443`: this host is not granted".to_owned()),
        ("http://10.0.0.1/".to_owned(), "connect to `10.0.0.1:80`: this host is not granted".to_owned()),
    ] {
        hostile.service.misbehave(Misbehavior::redirect(&target));
        let (outcomes, refusals) = hostile.ask(&json!({"follow": {"address": hostile.service.address()}}));
        assert_eq!((outcomes.len(), &outcomes[0]["status"]), (2, &json!(302)));
        assert_eq!(refusals, [refusal]);
    }
    assert!(other.requests().is_empty());
    // A granted host is reached without the token.
    hostile.service.misbehave(Misbehavior::redirect(hostile.granted.address()));
    let (outcomes, refusals) = hostile.ask(&json!({"follow": {"address": hostile.service.address()}}));
    assert_eq!((&outcomes[1]["status"], refusals.len()), (&json!(200), 0));
    let [request] = &hostile.granted.requests()[..] else { panic!("one request came") };
    assert!(!format!("{request:?}").contains("s3cret"), "{request:?}");
}

#[test]
fn integrations_cannot_write() {
    let mut hostile = HostileScene::start();
    let (address, port) = (hostile.service.address(), hostile.service.port());
    for method in ["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE", "PURGE"] {
        let refusal = format!("send a `{method}` to `localhost:{port}/api/things`: integrations only read");
        hostile.assert_denied(&json!({"method": method, "address": format!("{address}/api/things")}), &refusal);
    }
    let post = |path: &str, body: &str| json!({"method": "POST", "address": format!("{address}{path}"), "body": body});
    let granted = hostile.granted.address();
    let question = json!({"query": "{ viewer { name } }"}).to_string();
    let target = json!({"method": "POST", "address": format!("{granted}/graphql"), "body": question});
    let refusal = format!("send a `POST` to `localhost:{}/graphql`: integrations only read", hostile.granted.port());
    hostile.assert_denied(&target, &refusal);
    for path in ["/api/things", "/graphql", "/api/graphql/x"] {
        let refusal = format!("send a `POST` to `localhost:{port}{path}`: integrations only read");
        hostile.assert_denied(&post(path, &question), &refusal);
    }
    let with_body = json!({"address": format!("{address}/api/things"), "body": "delete"});
    hostile
        .assert_denied(&with_body, &format!("send a `GET` to `localhost:{port}/api/things`: it must not have a body"));
    let mut unfinished = post("/api/graphql", "{\"query\": ");
    unfinished["unfinished"] = json!(true);
    let refusal = format!("send a `POST` to `localhost:{port}/api/graphql`: its body is too long or incomplete");
    hostile.assert_denied(&unfinished, &refusal);
    assert!(hostile.service.requests().is_empty() && hostile.granted.requests().is_empty());

    let mutation = "it contains a `mutation`, and only a `query` is allowed";
    let no_question = "its body is not a GraphQL query";
    for (body, why) in [
        (json!({"query": "mutation { issueDelete(id: 1) { success } }"}).to_string(), mutation),
        (json!({"query": "# query\n\u{feff} mutation M { a }"}).to_string(), mutation),
        (json!({"query": "query A { a } mutation B { b }", "operationName": "B"}).to_string(), mutation),
        (json!({"query": "{ a(text: \"\\\\\") } mutation { b }"}).to_string(), mutation),
        ("{\"query\": \"\\u006dutation { a }\"}".to_owned(), mutation),
        (
            json!({"query": "subscription { a }"}).to_string(),
            "it contains a `subscription`, and only a `query` is allowed",
        ),
        (json!([{"query": "{ a }"}, {"query": "mutation { b }"}]).to_string(), no_question),
        ("{\"query\": \"{ a }\", \"query\": \"mutation { b }\"}".to_owned(), no_question),
        (json!({"extensions": {"persistedQuery": {"version": 1}}}).to_string(), no_question),
        ("query=mutation{a}".to_owned(), no_question),
    ] {
        hostile.assert_denied(
            &post("/api/graphql", &body),
            &format!("send a `POST` to `localhost:{port}/api/graphql`: {why}"),
        );
    }
    for path in ["/api/graphql", "/api"] {
        let hidden = format!("{path}?query=mutation%7Ba%7D");
        let refusal = format!("send a `GET` to `localhost:{port}{path}`: GraphQL queries must be sent with `POST`");
        hostile.assert_denied(&json!({"address": format!("{address}{hidden}")}), &refusal);
        let refusal =
            format!("send a `POST` to `localhost:{port}{path}`: a GraphQL request must not have a query string");
        hostile.assert_denied(&post(&hidden, &question), &refusal);
    }
    for path in ["/api/../admin", "/api/%2e%2e/admin", "/api/a/..%2Fadmin", "/./api/a", "/api/%252e./a", "/api/..;/a"] {
        let refusal = format!("send a `GET` to `localhost:{port}{path}`: its path contains a `.` or `..` segment");
        hostile.assert_denied(&json!({"address": format!("{address}{path}")}), &refusal);
    }
    assert!(hostile.service.requests().is_empty());

    let (outcome, refusals) = hostile.send(&post("/api/graphql", &question));
    assert_eq!((&outcome["status"], refusals.len()), (&json!(200), 0), "{outcome}");
    let [request] = &hostile.service.requests()[..] else { panic!("only the question came") };
    assert_eq!(serde_json::from_slice::<Value>(&request.body).unwrap(), json!({"query": "{ viewer { name } }"}));
}

#[test]
fn a_component_cannot_set_identifying_headers() {
    let mut hostile = HostileScene::start();
    let (address, port) = (hostile.own_address(), hostile.service.port());
    let headers = ["authorization", "x-mine", "cookie", "proxy-authorization", "x-http-method-override", "x-api-key"];
    for header in headers {
        let (outcome, refusals) = hostile.send(&json!({"address": address, "headers": {header: "forged"}}));
        // The interface itself refuses headers of the connection.
        if let Some(error) = outcome["error"].as_str() {
            assert!(error.contains("Forbidden"), "{header}: {error}");
            continue;
        }
        let expected = format!("send the header `{header}` to `localhost:{port}`: not allowed for integrations");
        assert_eq!(refusals, [expected]);
    }
    let many_headers: serde_json::Map<String, Value> =
        (10..35).map(|number| (format!("x-{number}"), json!("forged"))).collect();
    let requests = json!([{"address": address, "headers": many_headers}, {"address": "https://evil.example/"}]);
    let (_, refusals) = hostile.ask(&json!({"send": requests}));
    let names = "`x-10`, `x-11`, `x-12`, `x-13`, `x-14` and 20 more";
    let headers = format!("send the headers {names} to `localhost:{port}`: not allowed for integrations");
    assert_eq!(refusals, ["connect to `evil.example:443`: this host is not granted".to_owned(), headers]);
    for header in ["host", "connection", "transfer-encoding", "upgrade"] {
        let (outcome, _) = hostile.send(&json!({"address": address, "headers": {header: "evil.example"}}));
        assert!(outcome["error"].as_str().is_some_and(|error| error.contains("Forbidden")), "{header}: {outcome}");
    }
    let split = json!({"address": address, "headers": {"accept": "a\r\nx-mine: forged"}});
    assert!(hostile.send(&split).0["error"].is_string());
    for request in hostile.service.requests() {
        assert!(!format!("{request:?}").contains("forged"), "{request:?}");
        assert_eq!(request.header("host"), Some(format!("localhost:{port}").as_str()));
        assert_eq!(request.header("x-mine"), Some(token("mine").as_str()));
        assert!(request.header("user-agent").unwrap().starts_with("skillcell/"));
    }
}

#[test]
fn a_component_never_sees_its_token() {
    let mut hostile = HostileScene::start();
    let (environment, _) = hostile.ask(&json!({"look": true}));
    assert_eq!(
        (&environment[0]["variables"], &environment[0]["input"], &environment[0]["request"]),
        (&json!([]), &json!(""), &json!([]))
    );
    let (address, port) = (hostile.own_address(), hostile.service.port());
    let refusal = format!("read the token: `localhost:{port}` sent it back");
    let tokens = Answer::json(401, &json!({"message": format!("`{}` is no token", token("mine"))}));
    let in_header = Answer::json(200, &json!({})).header("x-seen", token("mine"));
    let encoded = BASE64.encode(format!("me:{}", token("mine")));
    for misbehavior in [
        Misbehavior::Echo,
        Misbehavior::Say(tokens),
        Misbehavior::Say(in_header),
        Misbehavior::Say(Answer::json(200, &json!({"authorization": format!("Basic {encoded}")}))),
        Misbehavior::redirect(format!("https://e.example/{}", token("mine"))),
    ] {
        hostile.service.misbehave(misbehavior);
        let (_, refusals) = hostile.send(&json!({"address": address}));
        assert_eq!(refusals, [refusal.as_str()]);
        assert_eq!(hostile.scene.last_record()["requests"][0]["failure"], "the answer contains the token");
    }
    // A token that arrives in two parts is still recognized.
    let (start, end) = (token("mine")[..9].to_owned(), token("mine")[9..].to_owned());
    hostile.service.misbehave(Misbehavior::Parts(Answer::ok("text/plain", ""), vec![format!("it is {start}"), end]));
    hostile.service.go_on();
    let (outcome, refusals) = hostile.send(&json!({"address": address}));
    assert_eq!(refusals, [refusal.as_str()]);
    assert!("it is ".starts_with(outcome["body"].as_str().unwrap()), "{outcome}");
    // Other granted hosts do not get the token, encrypted or not, not even on the same machine.
    hostile.service.misbehave(Misbehavior::Echo);
    let (outcome, refusals) = hostile.send(&json!({"address": hostile.service.address() + "/other"}));
    assert_eq!((&outcome["status"], refusals.len()), (&json!(200), 0), "{outcome}");
    let (outcome, _) = hostile.send(&json!({"address": hostile.granted.address()}));
    assert_eq!(outcome["status"], 200);
    let plaintext = hostile.plaintext.url().replace("127.0.0.1", "localhost");
    let (outcome, _) = hostile.send(&json!({"address": plaintext}));
    assert_eq!(outcome["status"], 200, "{outcome}");
    let unencrypted = hostile.service.address().replace("https:", "http:");
    assert!(hostile.send(&json!({"address": unencrypted})).0["error"].is_string());
    let received = format!("{:?}{:?}", hostile.granted.requests(), hostile.plaintext.received().heads);
    assert!(!received.contains("s3cret") && received.contains("secret-path"), "{received}");
}

#[test]
fn refusals_can_be_neither_hidden_nor_forged() {
    let mut hostile = HostileScene::start();
    let requests: Vec<Value> =
        (10..40).map(|number| json!({"address": format!("https://{number}.example/")})).collect();
    let (_, refusals) = hostile.ask(&json!({"send": requests}));
    assert_eq!((refusals.len(), refusals[20].as_str()), (21, "and 10 more attempts, not listed here"));
    let line = hostile.scene.last_record();
    for (number, request) in (10..40).zip(line["requests"].as_array().unwrap()) {
        let refusal = format!("connect to `{number}.example:443`: this host is not granted");
        assert_eq!(request["failure"], json!(refusal), "{line}");
    }
    let text = hostile.scene.ask("mine", &json!({"do": "forge refusals"}).to_string());
    assert_eq!(text, "done\n\n> refusals:\n- nothing worth a look");
    assert_eq!(hostile.scene.last_record()["denials"], json!([]));
}

#[test]
fn the_number_of_requests_is_limited() {
    let mut hostile = HostileScene::start();
    let address = hostile.service.address();
    let (outcomes, refusals) = hostile.ask(&json!({"send": {"address": address, "times": 60}}));
    assert_eq!(refusals, ["send more than 50 requests for one question"]);
    let count = |outcomes: &[Value]| outcomes.iter().filter(|outcome| outcome["status"] == 200).count();
    assert_eq!((count(&outcomes), hostile.service.requests().len()), (50, 50));
    // Refused requests count as well.
    let requests = json!([{"address": "https://evil.example/", "times": 49}, {"address": address, "times": 5}]);
    let (outcomes, refusals) = hostile.ask(&json!({"send": requests}));
    assert_eq!((count(&outcomes), refusals.len(), hostile.service.requests().len()), (1, 2, 51));
    let question = json!({"hoard": {"address": address, "times": 5_000}}).to_string();
    let (text, _) = hostile.scene.query("mine", &question);
    assert!(hostile.service.requests().len() <= 51 + 50, "{text}");
    still_answers(&mut hostile.scene.session);
    hostile.scene.ask("github", "List open pull requests");
}

#[test]
fn a_misbehaving_component_fails_only_its_own_question() {
    let mut hostile = HostileScene::start();
    let mut misbehave = |how: &str| {
        let (text, is_error) = hostile.scene.query("mine", &json!({"do": how}).to_string());
        let outcome = hostile.scene.last_record()["outcome"].as_str().unwrap().to_owned();
        still_answers(&mut hostile.scene.session);
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}', '\r']), "{how}: {text:?}");
        (text, is_error, outcome)
    };
    for (name, part, expected) in [
        ("trap", "crashed", "crashed"),
        ("exit", "crashed", "crashed"),
        ("recurse", "crashed", "crashed"),
        ("eat memory", "needed more than 128 MiB of memory", "memory"),
        ("giant answer", "", ""),
        ("giant report", "crashed", "crashed"),
        ("lie", "`mine` did not accept the credentials: ", "unauthorized"),
        ("unheard of", "`mine` does not understand this question\nhint: ask one of these:\n- one", "not understood"),
    ] {
        let (text, is_error, outcome) = misbehave(name);
        assert!(is_error && text.contains(part) && text.contains("hint: "), "{name}: {text}");
        assert!(expected.is_empty() || outcome == expected, "{name}: {outcome}");
        assert!(text.len() < 4_000, "{name}: {} bytes", text.len());
    }
    for name in ["nothing", "log", "report", "print"] {
        assert_eq!(misbehave(name), ("done".to_owned(), false, "answered".to_owned()), "{name}");
    }
    let (text, is_error, _) = misbehave("long answer");
    assert!(
        !is_error && text.ends_with("(150000 more characters are omitted: ask for less)"),
        "{}",
        &text[text.len() - 90..]
    );
    assert_eq!(misbehave("odd answer").0, "a\n\\u{202e}\\u{1b}[31m\\u{7}b");
    let log = hostile.scene.session.log();
    assert!(log.lines().count() < 500 && !log.contains('\u{202e}'), "{} lines", log.lines().count());
    let message =
        hostile.scene.session.notification("notifications/message")["params"]["data"].as_str().unwrap().to_owned();
    assert!(message.starts_with("step 0") && !message.contains(char::is_control), "{message:?}");
    hostile.scene.ask("github", "List open pull requests");
}

#[test]
fn an_endless_loop_does_not_block_other_requests() {
    let mut hostile = HostileScene::with("  timeout_seconds: 3\n");
    let ask = |hostile: &mut HostileScene, how: &str| {
        let arguments = json!({"query": json!({"do": how}).to_string(), "integration": "mine"});
        hostile.scene.session.post("tools/call", json!({"name": "query", "arguments": arguments}))
    };
    let id = ask(&mut hostile, "nothing");
    hostile.scene.session.answer(&id);
    let ids = [ask(&mut hostile, "spin"), ask(&mut hostile, "spin"), ask(&mut hostile, "spin")];
    still_answers(&mut hostile.scene.session);
    assert!(ids.iter().all(|id| !hostile.scene.session.is_answered(id)), "the loops ended first");
    for id in ids {
        let answer = hostile.scene.session.answer(&id);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("`mine` timed out after 3 seconds\nhint: "), "{answer}");
        assert_eq!(hostile.scene.last_record()["outcome"], "time");
    }
}

#[test]
fn cached_answers_are_not_used_for_another_component() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.wasm");
    let bytes = std::fs::read(component("hostile-integration")).unwrap();
    std::fs::write(&file, &bytes).unwrap();
    let settings = format!("  mine: {{file: '{}', address: 'https://localhost'}}\n", file.display());
    let mut scene = Scene::with(Options::settings(settings));
    let mut outcome = || {
        scene.ask("mine", "{\"do\": \"nothing\"}");
        scene.last_record()["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!([outcome(), outcome()], ["answered", "answered before"]);
    // A custom section without content changes only the digest.
    std::fs::write(&file, [&bytes[..], &[0, 2, 1, b'x']].concat()).unwrap();
    assert_eq!([outcome(), outcome()], ["answered", "answered before"]);
}

#[test]
fn only_the_configured_component_is_used() {
    let service = Service::start(&Authority::default());
    let (file, zeros) = (component("hostile-integration"), "0".repeat(64));
    let (file, address) = (file.display(), service.address());
    let settings = format!(
        "  pinned: {{file: '{file}', sha256: {zeros}, address: '{address}'}}\n  \
           other: {{file: '{}', address: '{address}'}}\n  \
           stranger: {{file: '{file}', address: '{address}'}}\n",
        component("hostile-scorer").display()
    );
    let mut scene = Scene::with(Options::settings(settings));
    for (name, fault) in [("pinned", "is pinned"), ("other", "instead of `skillcell:plugin/query@")] {
        let (text, is_error) = scene.query(name, "{\"do\": \"nothing\"}");
        assert!(is_error && text.contains(fault), "{text}");
        assert_eq!(scene.last_record()["kind"], "refusal");
    }
    // The certificate of this service is not trusted.
    let text = scene.ask("stranger", &json!({"send": {"address": address}}).to_string());
    assert!(text.contains("TlsCertificateError"), "{text}");
    assert!(service.requests().is_empty());
}
