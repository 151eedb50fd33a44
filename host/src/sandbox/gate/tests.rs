//! What goes through the gate, and what does not, tried on servers of this machine.

use super::reading::{Credential, Posts, Service};
use super::requests::{MOST, Requests, Sent};
use super::*;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Method;
use hyper::header::HeaderName;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const TOKEN: &str = "token-1234567890";

/// Answers every request with itself, in upper case so that no token is in it. Returns where it listens.
async fn mirror() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = Vec::new();
                let mut buffer = [0; 4096];
                while !is_whole(&request) {
                    let Ok(length @ 1..) = stream.read(&mut buffer).await else { return };
                    request.extend_from_slice(&buffer[..length]);
                }
                let mut text = String::from_utf8(request).unwrap();
                if !text.starts_with("GET /as-it-is") {
                    text.make_ascii_uppercase();
                }
                let encoded = if text.contains("/ENCODED") { "content-encoding: gzip\r\n" } else { "" };
                let head = format!("HTTP/1.1 200 OK\r\n{encoded}content-length: {}\r\n\r\n", text.len());
                let _ = stream.write_all(format!("{head}{text}").as_bytes()).await;
            });
        }
    });
    address
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

/// The gate of an integration whose service is at an address.
struct Scene {
    gate: Gate,
    requests: Requests,
    address: String,
}

impl Scene {
    fn new(address: &str, hosts: &[&str], posts: Posts) -> Self {
        let uri: Uri = address.parse().unwrap();
        let target = Target::of(&uri).unwrap();
        let requests = Requests::default();
        let reading = Reading {
            service: Service { target, path: uri.path().trim_end_matches('/').to_owned() },
            posts,
            credential: Credential::new(HeaderName::from_static("x-token"), Some("Bearer"), TOKEN),
            requests: requests.clone(),
        };
        let hosts: Vec<HostPattern> = hosts.iter().map(|host| host.parse().unwrap()).collect();
        let gate = Gate::reading(&hosts, Denials::default(), trusting(&[]), reading);
        Self { gate, requests, address: address.to_owned() }
    }

    /// Sends a request, and tells the answer's text.
    async fn send(&self, method: Method, uri: &str, headers: &[(&str, &str)], body: &str) -> Result<String, Error> {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::new(Bytes::from(body.to_owned())).map_err(Error::from).boxed_unsync();
        let sending = self.gate.clone().send(request.body(body).unwrap(), RequestOptions::default());
        let sent = tokio::time::timeout(Duration::from_secs(20), sending).await.expect("an answer in time");
        let (answer, end) = sent?;
        tokio::spawn(Box::into_pin(end));
        let body = answer.into_body().collect().await?;
        Ok(String::from_utf8(body.to_bytes().to_vec()).unwrap())
    }

    async fn get(&self, path: &str) -> Result<String, Error> {
        self.send(Method::GET, &format!("{}{path}", self.address), &[], "").await
    }

    async fn post(&self, path: &str, body: &str) -> Result<String, Error> {
        self.send(Method::POST, &format!("{}{path}", self.address), &[], body).await
    }

    /// What was refused, and what is noted of the last request.
    fn told(&self) -> (Vec<String>, Sent) {
        (self.gate.denials.take(), self.requests.all().pop().unwrap())
    }
}

fn granted(address: SocketAddr, posts: Posts) -> Scene {
    Scene::new(&format!("http://{address}/api"), &[&address.to_string()], posts)
}

#[tokio::test]
async fn the_host_says_who_asks_and_nobody_else() {
    let scene = granted(mirror().await, Posts::Nothing);
    let headers = [
        ("x-token", "mine"),
        ("authorization", "mine"),
        ("cookie", "mine"),
        ("x-api-key", "mine"),
        ("x-http-method-override", "DELETE"),
        ("user-agent", "mine"),
        ("accept", "application/json"),
    ];
    let seen = scene.send(Method::GET, &format!("{}/a?b=c", scene.address), &headers, "").await.unwrap();
    assert!(seen.starts_with("GET /API/A?B=C HTTP/1.1"), "{seen}");
    assert!(seen.contains("X-TOKEN: BEARER TOKEN-1234567890"), "{seen}");
    assert!(seen.contains("USER-AGENT: SKILLCELL/") && seen.contains("ACCEPT: APPLICATION/JSON"), "{seen}");
    assert!(!seen.contains("MINE") && !seen.contains("DELETE"), "{seen}");
    let (denials, sent) = scene.told();
    let names = "`authorization`, `cookie`, `x-api-key`, `x-http-method-override`, `x-token`";
    let host = scene.address.strip_prefix("http://").unwrap().strip_suffix("/api").unwrap();
    assert_eq!(denials, [format!("send the headers {names} to `{host}`: the host says who asks")]);
    assert_eq!((sent.path.as_str(), sent.status, sent.failure), ("/api/a?b", Some(200), None));
    assert_eq!(sent.bytes, seen.len() as u64);
}

#[tokio::test]
async fn headers_that_are_taken_out_are_named_together() {
    let scene = granted(mirror().await, Posts::Nothing);
    let names: Vec<String> = (0..20).map(|number| format!("x-junk-{number}-{}", "x".repeat(100))).collect();
    let headers: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "mine")).collect();
    scene.send(Method::GET, &scene.address, &headers, "").await.unwrap();
    scene.send(Method::GET, &scene.address, &[("cookie", "mine")], "").await.unwrap();
    let (denials, _) = scene.told();
    let [one, many] = &denials[..] else { panic!("one for each request: {denials:?}") };
    assert!(one.starts_with("send the header `cookie` to `127.0.0.1:"), "{one}");
    assert!(many.starts_with("send the headers `x-junk-0-xxx") && many.contains("…` and 15 more to `127."), "{many}");
    assert!(many.ends_with("`: the host says who asks"), "{many}");
}

#[tokio::test]
async fn a_token_goes_to_its_service_alone() {
    let (service, other) = (mirror().await, mirror().await);
    let hosts = [service.to_string(), other.to_string(), format!("localhost:{}", service.port())];
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let scene = Scene::new(&format!("http://{service}"), &hosts, Posts::Nothing);
    assert!(scene.get("/").await.unwrap().contains("TOKEN-1234567890"));
    for elsewhere in [format!("http://{other}/"), format!("http://localhost:{}/", service.port())] {
        let seen = scene.send(Method::GET, &elsewhere, &[], "").await.unwrap();
        assert!(!seen.contains("TOKEN"), "{elsewhere}: {seen}");
    }
    // The same machine and port, but everybody could listen.
    let scene = Scene::new(&format!("https://{service}"), &hosts, Posts::Nothing);
    let seen = scene.send(Method::GET, &format!("http://{service}/"), &[], "").await.unwrap();
    assert!(seen.starts_with("GET / HTTP/1.1") && !seen.contains("TOKEN"), "{seen}");
}

#[tokio::test]
async fn a_token_that_is_sent_back_is_not_handed_on() {
    let address = mirror().await;
    let scene = Scene::new(&format!("http://{address}"), &[&address.to_string()], Posts::Nothing);
    let refused = scene.get("/as-it-is").await;
    assert!(matches!(refused, Err(Error::HttpRequestDenied)), "{refused:?}");
    let (denials, sent) = scene.told();
    assert_eq!(denials, [format!("read the token: `{address}` sent it back")]);
    assert_eq!(sent.failure.as_deref(), Some("the answer repeats the token"));
}

#[tokio::test]
async fn an_answer_that_hides_what_it_says_is_not_handed_on() {
    let scene = granted(mirror().await, Posts::Nothing);
    let refused = scene.get("/encoded").await;
    assert!(matches!(&refused, Err(Error::HttpResponseContentCoding(Some(coding))) if coding == "gzip"), "{refused:?}");
    let (denials, sent) = scene.told();
    assert_eq!((denials.len(), sent.status), (0, Some(200)));
    assert_eq!(sent.failure.as_deref(), Some("the answer is encoded, and nobody asked for that"));
}

#[tokio::test]
async fn only_granted_hosts_ports_and_addresses_are_reached() {
    let (service, other) = (mirror().await, mirror().await);
    let scene = granted(service, Posts::Questions);
    for (uri, part) in [
        (format!("http://{other}/"), format!("connect to `{other}`: this host is not granted")),
        ("https://evil.example/".to_owned(), "connect to `evil.example:443`: this host is not granted".to_owned()),
        ("http://169.254.169.254/latest".to_owned(), "this host is not granted".to_owned()),
        (format!("http://me:x@{service}/"), "as a user of its own".to_owned()),
        ("http://127.0.0.1:99999/".to_owned(), "connect to `127.0.0.1:99999`: this is no host and port".to_owned()),
        ("http://me@127.0.0.1:http/".to_owned(), "connect to `127.0.0.1:http`: this is no host and port".to_owned()),
    ] {
        for method in [Method::GET, Method::POST] {
            let refused = scene.send(method, &uri, &[], "").await;
            assert!(matches!(refused, Err(Error::HttpRequestDenied)), "{uri}: {refused:?}");
            let (denials, sent) = scene.told();
            assert!(denials.len() == 1 && denials[0].contains(&part), "{denials:?}");
            assert_eq!((sent.status, sent.failure.as_deref()), (None, Some(denials[0].as_str())));
        }
    }
    let port = service.port();
    let scene = Scene::new("https://localhost.example", &[&format!("localhost.example:{port}")], Posts::Nothing);
    let refused = scene.send(Method::GET, &format!("http://localhost.example:{port}/"), &[], "").await;
    assert!(matches!(refused, Err(Error::HttpRequestDenied)), "{refused:?}");
    assert!(scene.told().0[0].ends_with("`http` is not encrypted"));
}

#[tokio::test]
async fn a_name_that_leads_to_this_machine_needs_a_grant_that_says_so() {
    let port = mirror().await.port();
    // Every resolver knows it, and the pattern for it is made as one for a name that is not known to be private.
    let mut pattern: HostPattern = format!("localhost:{port}").parse().unwrap();
    let public: HostPattern = "public.example".parse().unwrap();
    pattern = pattern.reaching(&public);
    let mut scene = Scene::new("https://localhost", &[], Posts::Nothing);
    scene.gate.hosts = [pattern].into();
    let refused = scene.send(Method::GET, &format!("https://localhost:{port}/"), &[], "").await;
    assert!(matches!(refused, Err(Error::DestinationIpProhibited)), "{refused:?}");
    let (denials, sent) = scene.told();
    assert!(denials[0].ends_with("the grant does not say `private:localhost`"), "{denials:?}");
    assert_eq!(sent.failure.as_deref(), Some("this address is not granted"));
}

#[tokio::test]
async fn what_is_not_encrypted_stays_in_the_own_network() {
    // To every resolver this is 8.0.8.8, and nobody has to be asked for that.
    for name in ["8.2056", "8.0.8.8"] {
        let scene = Scene::new("https://service.example", &[&format!("private:{name}")], Posts::Nothing);
        let refused = scene.send(Method::GET, &format!("http://{name}/"), &[], "").await;
        assert!(matches!(refused, Err(Error::DestinationIpProhibited)), "{refused:?}");
        let (denials, sent) = scene.told();
        let expected = format!("connect to `{name}:80`: it is no machine of this network, and `http` is not encrypted");
        assert_eq!(denials, [expected]);
        assert_eq!(sent.failure.as_deref(), Some("this address is not granted"));
    }
}

#[tokio::test]
async fn integrations_only_read() {
    let address = mirror().await;
    for posts in [Posts::Nothing, Posts::Questions, Posts::ToItself] {
        let scene = granted(address, posts);
        for method in [Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS, Method::CONNECT] {
            let refused = scene.send(method.clone(), &format!("http://{address}/api"), &[], "").await;
            assert!(matches!(refused, Err(Error::HttpRequestDenied)), "{method}: {refused:?}");
            assert!(scene.told().0[0].ends_with("integrations only read"));
        }
        let refused = scene.send(Method::GET, &format!("http://{address}/api/x"), &[], "a body").await;
        assert!(matches!(refused, Err(Error::HttpRequestDenied)), "{refused:?}");
        assert!(scene.told().0[0].ends_with("it must not have a body"));
        assert!(scene.get("/x").await.is_ok());
    }
    let scene = granted(address, Posts::Nothing);
    assert!(scene.post("/graphql", r#"{"query": "{ a }"}"#).await.is_err());
}

#[tokio::test]
async fn questions_are_sent_where_they_belong() {
    let address = mirror().await;
    let scene = granted(address, Posts::Questions);
    let question = r#"{"query": "{ a }"}"#;
    for path in ["", "/graphql"] {
        let seen = scene.post(path, question).await.unwrap();
        assert!(seen.ends_with("\r\n\r\n{\"QUERY\":\"{ A }\"}"), "{seen}");
        assert!(seen.contains("CONTENT-TYPE: APPLICATION/JSON"), "{seen}");
    }
    for (path, body, part) in [
        ("/graphql", r#"{"query": "mutation { a }"}"#, "it has a `mutation`, and only a `query` reads"),
        ("/graphql", r#"[{"query": "{ a }"}]"#, "its body is no question in GraphQL"),
        ("/graphql", "", "its body is no question in GraphQL"),
        ("/issues", question, "integrations only read"),
        ("/graphql/x", question, "integrations only read"),
        ("/../graphql", question, "its path leads elsewhere than it says"),
        ("/graphql?query=mutation%7Ba%7D", question, "a question in GraphQL has nothing behind a `?`"),
        ("?query=mutation%7Ba%7D", question, "a question in GraphQL has nothing behind a `?`"),
        ("/graphql?", question, "a question in GraphQL has nothing behind a `?`"),
    ] {
        assert!(matches!(scene.post(path, body).await, Err(Error::HttpRequestDenied)), "{path} {body}");
        let (denials, _) = scene.told();
        assert!(denials[0].ends_with(part), "{path} {body}: {denials:?}");
    }
    for path in ["/graphql?query=mutation%7Ba%7D", "/GraphQL?a", "/%2567raphql?a", "?query=mutation%7Ba%7D", "/?a"] {
        assert!(matches!(scene.get(path).await, Err(Error::HttpRequestDenied)), "{path}");
        assert!(scene.told().0[0].ends_with("questions in GraphQL are sent with `POST`"), "{path}");
    }
    assert!(scene.get("").await.is_ok() && scene.get("/issues?query=open").await.is_ok());
    let long = format!("{{\"query\": \"{{ a }} #{}\"}}", "x".repeat(300 << 10));
    assert!(matches!(scene.post("/graphql", &long).await, Err(Error::HttpRequestDenied)));

    let enterprise = Scene::new(&format!("http://{address}/api/v3"), &[&address.to_string()], Posts::Questions);
    let beside = format!("http://{address}/api/graphql");
    assert!(enterprise.send(Method::POST, &beside, &[], question).await.is_ok());
}

#[tokio::test]
async fn a_path_leads_where_it_says() {
    let scene = granted(mirror().await, Posts::Nothing);
    for path in [
        "/../x",
        "/%2e%2E/x",
        "/%252e%252e/x",
        "/%25252e./x",
        "/..;/x",
        "/..;a=b/x",
        "/..%3b/x",
        "/..%3Fx",
        "/..%23",
        "/..%00/x",
        "/a%5c..%5cx",
        "/a%252f..%252fx",
        "/./x",
    ] {
        assert!(matches!(scene.get(path).await, Err(Error::HttpRequestDenied)), "{path}");
        assert!(scene.told().0[0].ends_with("its path leads elsewhere than it says"), "{path}");
    }
    for path in ["/...", "/a..b", "/..a", "/%252525", "/100%25", "/a;b/c", "/x?y=../z"] {
        assert!(scene.get(path).await.is_ok(), "{path}");
    }
}

#[tokio::test]
async fn a_gateway_is_told_anything_at_its_own_address() {
    let scene = granted(mirror().await, Posts::ToItself);
    assert!(scene.post("", "anything").await.unwrap().ends_with("\r\n\r\nANYTHING"));
    assert!(scene.post("/other", "anything").await.is_err());
}

#[tokio::test]
async fn there_is_an_end_to_requests() {
    let scene = granted(mirror().await, Posts::Nothing);
    for _ in 0..MOST {
        scene.get("/").await.unwrap();
    }
    assert!(matches!(scene.get("/").await, Err(Error::HttpRequestDenied)));
    assert_eq!(scene.told().0, [format!("send more than {MOST} requests for one question")]);
}

#[tokio::test]
async fn scripts_send_what_they_like_to_hosts_they_were_granted() {
    let address = mirror().await;
    let mut scene = Scene::new(&format!("http://{address}"), &[], Posts::Nothing);
    scene.gate = Gate::new(&[address.to_string().parse().unwrap()], Denials::default());
    let uri = format!("http://{address}/x");
    let seen = scene.send(Method::DELETE, &uri, &[("authorization", "mine")], "a body").await.unwrap();
    assert!(seen.starts_with("DELETE /X") && seen.contains("AUTHORIZATION: MINE"), "{seen}");
    assert!(!seen.contains("TOKEN"), "{seen}");
    assert!(scene.send(Method::GET, "http://other.example/", &[], "").await.is_err());
    assert_eq!(scene.gate.denials.take(), ["connect to `other.example:80`: this host is not granted"]);
}

#[test]
fn how_long_an_answer_is_waited_for_is_said_by_the_question() {
    let (script, question) = (Gate::new(&[], Denials::default()), Scene::new("https://a.example", &[], Posts::Nothing));
    let minutes = |number| Duration::from_mins(number);
    assert_eq!((script.answer_time(None), script.answer_time(Some(minutes(9)))), (minutes(1), minutes(1)));
    assert_eq!(question.gate.answer_time(None), Duration::MAX);
    for time in [minutes(9), Duration::from_secs(1)] {
        assert_eq!(question.gate.answer_time(Some(time)), time);
    }
}

#[test]
fn a_target_is_what_an_address_means() {
    let target = |text: &str| Target::of(&text.parse().unwrap()).map(|target| (target.secure, target.to_string()));
    for (text, secure, shown) in [
        ("https://API.Example.com/x", true, "api.example.com:443"),
        ("http://example.com", false, "example.com:80"),
        ("https://example.com:8443", true, "example.com:8443"),
        ("https://me@example.com:8443", true, "example.com:8443"),
        ("http://[::1]:8080/", false, "[::1]:8080"),
        ("http://[::1]/", false, "[::1]:80"),
    ] {
        assert_eq!(target(text), Some((secure, shown.to_owned())), "{text}");
    }
    for none in ["/only/a/path", "https://example.com:99999", "https://example.com:https"] {
        assert_eq!(target(none), None, "{none}");
    }
}
