//! A component that tries everything: what it may not do is refused, named to whoever asked, and recorded.

use super::scene::{Scene, Unusual, token};
use super::stage::Stage;
use crate::still_answers;
use base64::engine::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use skillcell_tests::component;
use skillcell_tests::git_server::Authority;
use skillcell_tests::services::{Answer, Deed, Service};
use std::time::{Duration, Instant};

#[test]
fn no_other_host_port_or_address_is_reached() {
    let mut stage = Stage::set();
    let other = Service::start(&stage.scene.authority);
    let port = stage.service.port();
    for (address, refusal) in [
        ("https://evil.example/".to_owned(), "connect to `evil.example:443`: this host is not granted".to_owned()),
        (other.address(), format!("connect to `localhost:{}`: this host is not granted", other.port())),
        ("https://localhost/".to_owned(), "connect to `localhost:443`: this host is not granted".to_owned()),
        (stage.service.address_at("127.0.0.1"), format!("connect to `127.0.0.1:{port}`: this host is not granted")),
        (stage.service.address_at("[::1]"), format!("connect to `[::1]:{port}`: this host is not granted")),
        ("https://10.0.0.1/".to_owned(), "connect to `10.0.0.1:443`: this host is not granted".to_owned()),
        ("http://169.254.169.254/".to_owned(), "connect to `169.254.169.254:80`: this host is not granted".to_owned()),
        (
            stage.service.address_at("127.1"),
            format!("connect to `127.1:{port}`: its address is private, and the grant does not say `private:127.1`"),
        ),
        ("http://api.example.com/".to_owned(), "connect to `api.example.com:80`: `http` is not encrypted".to_owned()),
        (
            format!("https://me:x@localhost:{port}/"),
            format!("connect to `localhost:{port}` as a user of its own: the host says who asks"),
        ),
        ("https://localhost:99999/".to_owned(), "connect to `localhost:99999`: this is no host and port".to_owned()),
    ] {
        stage.denied(&json!({"address": address}), &refusal);
    }
    assert!(other.requests().is_empty() && stage.service.requests().is_empty());
    let github = stage.scene.service("github");
    let refusal = format!("connect to `localhost:{}`: this host is not granted", github.port());
    let request = json!({"address": github.address()});
    stage.denied(&request, &refusal);
    assert!(stage.scene.service("github").requests().is_empty(), "the token of another integration is out of reach");
    let (outcome, _) = stage.send(&json!({"address": "ftp://localhost/"}));
    assert!(outcome["error"].is_string(), "{outcome}");
}

#[test]
fn a_redirect_leads_nowhere_else() {
    let mut stage = Stage::set();
    let other = Service::start(&stage.scene.authority);
    for (elsewhere, refusal) in [
        (other.address(), format!("connect to `localhost:{}`: this host is not granted", other.port())),
        ("https://evil.example/".to_owned(), "connect to `evil.example:443`: this host is not granted".to_owned()),
        ("http://10.0.0.1/".to_owned(), "connect to `10.0.0.1:80`: this host is not granted".to_owned()),
    ] {
        stage.service.misbehave(Deed::redirect(&elsewhere));
        let (outcomes, refusals) = stage.ask(&json!({"follow": {"address": stage.service.address()}}));
        assert_eq!((outcomes.len(), &outcomes[0]["status"]), (2, &json!(302)));
        assert_eq!(refusals, [refusal]);
    }
    assert!(other.requests().is_empty());
    // Where it may go, it goes without the token.
    stage.service.misbehave(Deed::redirect(stage.granted.address()));
    let (outcomes, refusals) = stage.ask(&json!({"follow": {"address": stage.service.address()}}));
    assert_eq!((&outcomes[1]["status"], refusals.len()), (&json!(200), 0));
    let [request] = &stage.granted.requests()[..] else { panic!("one request came") };
    assert!(!format!("{request:?}").contains("s3cret"), "{request:?}");
}

#[test]
fn integrations_only_read() {
    let mut stage = Stage::set();
    let (address, port) = (stage.service.address(), stage.service.port());
    for method in ["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT", "TRACE", "PURGE"] {
        let refusal = format!("send a `{method}` to `localhost:{port}/api/things`: integrations only read");
        stage.denied(&json!({"method": method, "address": format!("{address}/api/things")}), &refusal);
    }
    let post = |path: &str, body: &str| json!({"method": "POST", "address": format!("{address}{path}"), "body": body});
    let granted = stage.granted.address();
    let question = json!({"query": "{ viewer { name } }"}).to_string();
    let elsewhere = json!({"method": "POST", "address": format!("{granted}/graphql"), "body": question});
    let refusal = format!("send a `POST` to `localhost:{}/graphql`: integrations only read", stage.granted.port());
    stage.denied(&elsewhere, &refusal);
    for path in ["/api/things", "/graphql", "/api/graphql/x"] {
        let refusal = format!("send a `POST` to `localhost:{port}{path}`: integrations only read");
        stage.denied(&post(path, &question), &refusal);
    }
    let with_body = json!({"address": format!("{address}/api/things"), "body": "delete"});
    stage.denied(&with_body, &format!("send a `GET` to `localhost:{port}/api/things`: it must not have a body"));
    let mut unfinished = post("/api/graphql", "{\"query\": ");
    unfinished["unfinished"] = json!(true);
    let refusal = format!("send a `POST` to `localhost:{port}/api/graphql`: its body is too long, or never ended");
    stage.denied(&unfinished, &refusal);
    assert!(stage.service.requests().is_empty() && stage.granted.requests().is_empty());

    let mutation = "it has a `mutation`, and only a `query` reads";
    let no_question = "its body is no question in GraphQL";
    for (body, why) in [
        (json!({"query": "mutation { issueDelete(id: 1) { success } }"}).to_string(), mutation),
        (json!({"query": "# query\n\u{feff} mutation M { a }"}).to_string(), mutation),
        (json!({"query": "query A { a } mutation B { b }", "operationName": "B"}).to_string(), mutation),
        (json!({"query": "{ a(text: \"\\\\\") } mutation { b }"}).to_string(), mutation),
        ("{\"query\": \"\\u006dutation { a }\"}".to_owned(), mutation),
        (json!({"query": "subscription { a }"}).to_string(), "it has a `subscription`, and only a `query` reads"),
        (json!([{"query": "{ a }"}, {"query": "mutation { b }"}]).to_string(), no_question),
        ("{\"query\": \"{ a }\", \"query\": \"mutation { b }\"}".to_owned(), no_question),
        (json!({"extensions": {"persistedQuery": {"version": 1}}}).to_string(), no_question),
        ("query=mutation{a}".to_owned(), no_question),
    ] {
        stage.denied(&post("/api/graphql", &body), &format!("send a `POST` to `localhost:{port}/api/graphql`: {why}"));
    }
    for path in ["/api/graphql", "/api"] {
        let hidden = format!("{path}?query=mutation%7Ba%7D");
        let refusal = format!("send a `GET` to `localhost:{port}{path}`: questions in GraphQL are sent with `POST`");
        stage.denied(&json!({"address": format!("{address}{hidden}")}), &refusal);
        let refusal =
            format!("send a `POST` to `localhost:{port}{path}`: a question in GraphQL has nothing behind a `?`");
        stage.denied(&post(&hidden, &question), &refusal);
    }
    for path in ["/api/../admin", "/api/%2e%2e/admin", "/api/a/..%2Fadmin", "/./api/a", "/api/%252e./a", "/api/..;/a"] {
        let refusal = format!("send a `GET` to `localhost:{port}{path}`: its path leads elsewhere than it says");
        stage.denied(&json!({"address": format!("{address}{path}")}), &refusal);
    }
    assert!(stage.service.requests().is_empty());

    let (outcome, refusals) = stage.send(&post("/api/graphql", &question));
    assert_eq!((&outcome["status"], refusals.len()), (&json!(200), 0), "{outcome}");
    let [request] = &stage.service.requests()[..] else { panic!("only the question came") };
    assert_eq!(serde_json::from_slice::<Value>(&request.body).unwrap(), json!({"query": "{ viewer { name } }"}));
}

#[test]
fn a_component_cannot_say_who_it_is() {
    let mut stage = Stage::set();
    let (address, port) = (stage.own(), stage.service.port());
    let headers = ["authorization", "x-mine", "cookie", "proxy-authorization", "x-http-method-override", "x-api-key"];
    for header in headers {
        let (outcome, refusals) = stage.send(&json!({"address": address, "headers": {header: "forged"}}));
        // The border itself takes no headers that belong to the connection.
        if let Some(error) = outcome["error"].as_str() {
            assert!(error.contains("Forbidden"), "{header}: {error}");
            continue;
        }
        let expected = format!("send the header `{header}` to `localhost:{port}`: the host says who asks");
        assert_eq!(refusals, [expected]);
    }
    let junk: serde_json::Map<String, Value> =
        (10..35).map(|number| (format!("x-{number}"), json!("forged"))).collect();
    let requests = json!([{"address": address, "headers": junk}, {"address": "https://evil.example/"}]);
    let (_, refusals) = stage.ask(&json!({"send": requests}));
    let names = "`x-10`, `x-11`, `x-12`, `x-13`, `x-14` and 20 more";
    let headers = format!("send the headers {names} to `localhost:{port}`: the host says who asks");
    assert_eq!(refusals, ["connect to `evil.example:443`: this host is not granted".to_owned(), headers]);
    for header in ["host", "connection", "transfer-encoding", "upgrade"] {
        let (outcome, _) = stage.send(&json!({"address": address, "headers": {header: "evil.example"}}));
        assert!(outcome["error"].as_str().is_some_and(|error| error.contains("Forbidden")), "{header}: {outcome}");
    }
    let split = json!({"address": address, "headers": {"accept": "a\r\nx-mine: forged"}});
    assert!(stage.send(&split).0["error"].is_string());
    for request in stage.service.requests() {
        assert!(!format!("{request:?}").contains("forged"), "{request:?}");
        assert_eq!(request.header("host"), Some(format!("localhost:{port}").as_str()));
        assert_eq!(request.header("x-mine"), Some(token("mine").as_str()));
        assert!(request.header("user-agent").unwrap().starts_with("skillcell/"));
    }
}

#[test]
fn a_component_never_sees_its_token() {
    let mut stage = Stage::set();
    let (seen, _) = stage.ask(&json!({"look": true}));
    assert_eq!((&seen[0]["variables"], &seen[0]["input"], &seen[0]["request"]), (&json!([]), &json!(""), &json!([])));
    let (address, port) = (stage.own(), stage.service.port());
    let refusal = format!("read the token: `localhost:{port}` sent it back");
    let tokens = Answer::json(401, &json!({"message": format!("`{}` is no token", token("mine"))}));
    let in_header = Answer::json(200, &json!({})).header("x-seen", token("mine"));
    let encoded = BASE64.encode(format!("me:{}", token("mine")));
    for deed in [
        Deed::Echo,
        Deed::Say(tokens),
        Deed::Say(in_header),
        Deed::Say(Answer::json(200, &json!({"authorization": format!("Basic {encoded}")}))),
        Deed::redirect(format!("https://e.example/{}", token("mine"))),
    ] {
        stage.service.misbehave(deed);
        let (_, refusals) = stage.send(&json!({"address": address}));
        assert_eq!(refusals, [refusal.as_str()]);
        assert_eq!(stage.scene.last_record()["requests"][0]["failure"], "the answer repeats the token");
    }
    // Cut anywhere, it is still the token.
    let (start, end) = (token("mine")[..9].to_owned(), token("mine")[9..].to_owned());
    stage.service.misbehave(Deed::Parts(Answer::ok("text/plain", ""), vec![format!("it is {start}"), end]));
    stage.service.go_on();
    let (outcome, refusals) = stage.send(&json!({"address": address}));
    assert_eq!(refusals, [refusal.as_str()]);
    assert!("it is ".starts_with(outcome["body"].as_str().unwrap()), "{outcome}");
    // Others that it may ask are told nothing, encrypted or not, not even on the same machine.
    stage.service.misbehave(Deed::Echo);
    let (outcome, refusals) = stage.send(&json!({"address": stage.service.address() + "/other"}));
    assert_eq!((&outcome["status"], refusals.len()), (&json!(200), 0), "{outcome}");
    let (outcome, _) = stage.send(&json!({"address": stage.granted.address()}));
    assert_eq!(outcome["status"], 200);
    let in_clear = stage.in_clear.url().replace("127.0.0.1", "localhost");
    let (outcome, _) = stage.send(&json!({"address": in_clear}));
    assert_eq!(outcome["status"], 200, "{outcome}");
    let in_place = stage.service.address().replace("https:", "http:");
    assert!(stage.send(&json!({"address": in_place})).0["error"].is_string());
    let told = format!("{:?}{:?}", stage.granted.requests(), stage.in_clear.received().heads);
    assert!(!told.contains("s3cret") && told.contains("secret-path"), "{told}");
}

#[test]
fn refusals_are_neither_hidden_nor_forged() {
    let mut stage = Stage::set();
    let tries: Vec<Value> = (10..40).map(|number| json!({"address": format!("https://{number}.example/")})).collect();
    let (_, refusals) = stage.ask(&json!({"send": tries}));
    assert_eq!((refusals.len(), refusals[20].as_str()), (21, "and 10 more attempts, not listed here"));
    let line = stage.scene.last_record();
    for (number, request) in (10..40).zip(line["requests"].as_array().unwrap()) {
        let refusal = format!("connect to `{number}.example:443`: this host is not granted");
        assert_eq!(request["failure"], json!(refusal), "{line}");
    }
    let text = stage.scene.ask("mine", &json!({"do": "forge refusals"}).to_string());
    assert_eq!(text, "done\n\n> refusals:\n- nothing worth a look");
    assert_eq!(stage.scene.last_record()["denials"], json!([]));
}

#[test]
fn there_is_an_end_to_requests() {
    let mut stage = Stage::set();
    let address = stage.service.address();
    let (outcomes, refusals) = stage.ask(&json!({"send": {"address": address, "times": 60}}));
    assert_eq!(refusals, ["send more than 50 requests for one question"]);
    let count = |outcomes: &[Value]| outcomes.iter().filter(|outcome| outcome["status"] == 200).count();
    assert_eq!((count(&outcomes), stage.service.requests().len()), (50, 50));
    // Those that are refused count too.
    let tries = json!([{"address": "https://evil.example/", "times": 49}, {"address": address, "times": 5}]);
    let (outcomes, refusals) = stage.ask(&json!({"send": tries}));
    assert_eq!((count(&outcomes), refusals.len(), stage.service.requests().len()), (1, 2, 51));
    let question = json!({"hoard": {"address": address, "times": 5_000}}).to_string();
    let (told, _) = stage.scene.told("mine", &question);
    assert!(stage.service.requests().len() <= 51 + 50, "{told}");
    still_answers(&mut stage.scene.session);
    stage.scene.ask("github", "List open pull requests");
}

#[test]
fn whatever_a_component_does_only_its_own_question_ends() {
    let mut stage = Stage::set();
    let mut deed = |deed: &str| {
        let (text, is_error) = stage.scene.told("mine", &json!({"do": deed}).to_string());
        let outcome = stage.scene.last_record()["outcome"].as_str().unwrap().to_owned();
        still_answers(&mut stage.scene.session);
        assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}', '\r']), "{deed}: {text:?}");
        (text, is_error, outcome)
    };
    for (name, part, expected) in [
        ("trap", "crashed", "crashed"),
        ("exit", "crashed", "crashed"),
        ("recurse", "crashed", "crashed"),
        ("eat memory", "needed more than 128 MiB of memory", "memory"),
        ("giant answer", "", ""),
        ("giant report", "crashed", "crashed"),
        ("lie", "`mine` does not know who asks: ", "unauthorized"),
        ("unheard of", "`mine` does not understand this question\nhint: ask one of these:\n- one", "not understood"),
    ] {
        let (text, is_error, outcome) = deed(name);
        assert!(is_error && text.contains(part) && text.contains("hint: "), "{name}: {text}");
        assert!(expected.is_empty() || outcome == expected, "{name}: {outcome}");
        assert!(text.len() < 4_000, "{name}: {} bytes", text.len());
    }
    for name in ["nothing", "log", "report", "print"] {
        assert_eq!(deed(name), ("done".to_owned(), false, "answered".to_owned()), "{name}");
    }
    let (text, is_error, _) = deed("long answer");
    assert!(
        !is_error && text.ends_with("(150000 more characters are left out: ask for less)"),
        "{}",
        &text[text.len() - 90..]
    );
    assert_eq!(deed("odd answer").0, "a\n\\u{202e}\\u{1b}[31m\\u{7}b");
    let log = stage.scene.session.log();
    assert!(log.lines().count() < 500 && !log.contains('\u{202e}'), "{} lines", log.lines().count());
    let told = stage.scene.session.notification("notifications/message")["params"]["data"].as_str().unwrap().to_owned();
    assert!(told.starts_with("step 0") && !told.contains(char::is_control), "{told:?}");
    stage.scene.ask("github", "List open pull requests");
}

#[test]
fn an_endless_loop_costs_nobody_else_anything() {
    let mut stage = Stage::with("  timeout_seconds: 2\n");
    let ask = |stage: &mut Stage, deed: &str| {
        let arguments = json!({"query": json!({"do": deed}).to_string(), "integration": "mine"});
        stage.scene.session.post("tools/call", json!({"name": "query", "arguments": arguments}))
    };
    let id = ask(&mut stage, "nothing");
    stage.scene.session.answer(&id);
    let began = Instant::now();
    let ids = [ask(&mut stage, "spin"), ask(&mut stage, "spin"), ask(&mut stage, "spin")];
    for _ in 0..5 {
        still_answers(&mut stage.scene.session);
    }
    for id in ids {
        let answer = stage.scene.session.answer(&id);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("`mine` had no answer after 2 seconds\nhint: "), "{answer}");
        assert_eq!(stage.scene.last_record()["outcome"], "time");
    }
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[test]
fn an_answer_is_not_given_again_for_another_component() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.wasm");
    let bytes = std::fs::read(component("hostile-integration")).unwrap();
    std::fs::write(&file, &bytes).unwrap();
    let settings = format!("  mine: {{file: '{}', address: 'https://localhost'}}\n", file.display());
    let mut scene = Scene::with(Unusual::settings(settings));
    let mut outcome = || {
        scene.ask("mine", "{\"do\": \"nothing\"}");
        scene.last_record()["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!([outcome(), outcome()], ["answered", "answered before"]);
    // A section that says nothing, with a name of one letter.
    std::fs::write(&file, [&bytes[..], &[0, 2, 1, b'x']].concat()).unwrap();
    assert_eq!([outcome(), outcome()], ["answered", "answered before"]);
}

#[test]
fn only_the_component_that_was_named_is_used() {
    let service = Service::start(&Authority::default());
    let (file, zeros) = (component("hostile-integration"), "0".repeat(64));
    let (file, address) = (file.display(), service.address());
    let settings = format!(
        "  pinned: {{file: '{file}', sha256: {zeros}, address: '{address}'}}\n  \
           other: {{file: '{}', address: '{address}'}}\n  \
           stranger: {{file: '{file}', address: '{address}'}}\n",
        component("hostile-scorer").display()
    );
    let mut scene = Scene::with(Unusual::settings(settings));
    for name in ["pinned", "other"] {
        let (text, is_error) = scene.told(name, "{\"do\": \"nothing\"}");
        assert!(is_error && text.contains("is not used: "), "{text}");
        assert_eq!(scene.last_record()["kind"], "refusal");
    }
    // Nobody vouches for this service.
    let told = scene.ask("stranger", &json!({"send": {"address": address}}).to_string());
    assert!(told.contains("TlsCertificateError"), "{told}");
    assert!(service.requests().is_empty());
}
