//! Which requests the gate allows and denies, tested with local servers.

use super::read_only::{Credential, PostPolicy, Service};
use super::request_log::{LoggedRequest, MAX_REQUESTS, RequestLog};
use super::*;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::Method;
use hyper::header::HeaderName;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const TOKEN: &str = "token-1234567890";

/// Starts a server that echoes every request, in upper case so that no token is in it. Returns its address.
async fn echo_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = Vec::new();
                let mut buffer = [0; 4096];
                while !is_complete(&request) {
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

fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

/// The gate of an integration, and the address of its service.
struct Scene {
    gate: Gate,
    requests: RequestLog,
    address: String,
}

impl Scene {
    fn new(address: &str, hosts: &[&str], posts: PostPolicy) -> Self {
        let uri: Uri = address.parse().unwrap();
        let target = Target::of(&uri).unwrap();
        let requests = RequestLog::default();
        let rules = ReadOnly {
            service: Service { target, path: uri.path().trim_end_matches('/').to_owned() },
            posts,
            credential: Credential::new(HeaderName::from_static("x-token"), Some("Bearer"), TOKEN),
            requests: requests.clone(),
        };
        let hosts: Vec<HostPattern> = hosts.iter().map(|host| host.parse().unwrap()).collect();
        let gate = Gate::read_only(&hosts, Denials::default(), tls_connector(&[]), rules);
        Self { gate, requests, address: address.to_owned() }
    }

    /// Sends a request and returns the text of the response.
    async fn send(&self, method: Method, uri: &str, headers: &[(&str, &str)], body: &str) -> Result<String, Error> {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::new(Bytes::from(body.to_owned())).map_err(Error::from).boxed_unsync();
        let sending = self.gate.clone().send(request.body(body).unwrap(), RequestOptions::default());
        let sent = tokio::time::timeout(Duration::from_secs(20), sending).await.expect("a response in time");
        let (response, end) = sent?;
        tokio::spawn(Box::into_pin(end));
        let body = response.into_body().collect().await?;
        Ok(String::from_utf8(body.to_bytes().to_vec()).unwrap())
    }

    async fn get(&self, path: &str) -> Result<String, Error> {
        self.send(Method::GET, &format!("{}{path}", self.address), &[], "").await
    }

    async fn post(&self, path: &str, body: &str) -> Result<String, Error> {
        self.send(Method::POST, &format!("{}{path}", self.address), &[], body).await
    }

    /// Sends a request that is denied for one reason. Returns the reason, which is logged too.
    async fn denial(&self, method: Method, uri: &str, body: &str) -> String {
        let refused = self.send(method, uri, &[], body).await;
        assert!(matches!(refused, Err(Error::HttpRequestDenied)), "{uri} {body}: {refused:?}");
        let (mut denials, sent) = self.outcome();
        assert_eq!((denials.len(), sent.status, sent.failure.as_ref()), (1, None, denials.last()), "{uri} {body}");
        denials.remove(0)
    }

    fn denials(&self) -> Vec<String> {
        self.gate.denials.take().iter().map(ToString::to_string).collect()
    }

    /// Returns the denials and the log entry of the last request.
    fn outcome(&self) -> (Vec<String>, LoggedRequest) {
        (self.denials(), self.requests.all().pop().unwrap())
    }
}

fn granted(address: SocketAddr, posts: PostPolicy) -> Scene {
    Scene::new(&format!("http://{address}/api"), &[&address.to_string()], posts)
}

#[tokio::test]
async fn only_the_gate_authenticates_requests() {
    let scene = granted(echo_server().await, PostPolicy::Nothing);
    let mine = ["x-token", "authorization", "cookie", "x-api-key", "user-agent"].map(|name| (name, "mine"));
    let headers = [&mine[..], &[("x-http-method-override", "DELETE"), ("accept", "application/json")]].concat();
    let seen = scene.send(Method::GET, &format!("{}/a?b=c", scene.address), &headers, "").await.unwrap();
    assert!(seen.starts_with("GET /API/A?B=C HTTP/1.1"), "{seen}");
    assert!(seen.contains("X-TOKEN: BEARER TOKEN-1234567890"), "{seen}");
    assert!(seen.contains("USER-AGENT: SKILLCELL/") && seen.contains("ACCEPT: APPLICATION/JSON"), "{seen}");
    assert!(!seen.contains("MINE") && !seen.contains("DELETE"), "{seen}");
    let (denials, sent) = scene.outcome();
    let names = "`authorization`, `cookie`, `x-api-key`, `x-http-method-override`, `x-token`";
    let host = scene.address.strip_prefix("http://").unwrap().strip_suffix("/api").unwrap();
    assert_eq!(denials, [format!("send the headers {names} to `{host}`: not allowed for integrations")]);
    assert_eq!((sent.path.as_str(), sent.status, sent.failure), ("/api/a?b", Some(200), None));
    assert_eq!(sent.bytes, seen.len() as u64);
}

#[tokio::test]
async fn removed_headers_are_listed_in_one_denial() {
    let scene = granted(echo_server().await, PostPolicy::Nothing);
    let names: Vec<String> = (0..20).map(|number| format!("x-junk-{number}-{}", "x".repeat(100))).collect();
    let headers: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "mine")).collect();
    scene.send(Method::GET, &scene.address, &headers, "").await.unwrap();
    scene.send(Method::GET, &scene.address, &[("cookie", "mine")], "").await.unwrap();
    let (denials, _) = scene.outcome();
    let [one, many] = &denials[..] else { panic!("one for each request: {denials:?}") };
    assert!(one.starts_with("send the header `cookie` to `127.0.0.1:"), "{one}");
    assert!(many.starts_with("send the headers `x-junk-0-xxx") && many.contains("…` and 15 more to `127."), "{many}");
    assert!(many.ends_with("`: not allowed for integrations"), "{many}");
}

#[tokio::test]
async fn a_token_is_only_sent_to_its_service() {
    let (service, other) = (echo_server().await, echo_server().await);
    let hosts = [service.to_string(), other.to_string(), format!("localhost:{}", service.port())];
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let scene = Scene::new(&format!("http://{service}"), &hosts, PostPolicy::Nothing);
    assert!(scene.get("/").await.unwrap().contains("TOKEN-1234567890"));
    for elsewhere in [format!("http://{other}/"), format!("http://localhost:{}/", service.port())] {
        let seen = scene.send(Method::GET, &elsewhere, &[], "").await.unwrap();
        assert!(!seen.contains("TOKEN"), "{elsewhere}: {seen}");
    }
    // The same host and port, but unencrypted.
    let scene = Scene::new(&format!("https://{service}"), &hosts, PostPolicy::Nothing);
    let seen = scene.send(Method::GET, &format!("http://{service}/"), &[], "").await.unwrap();
    assert!(seen.starts_with("GET / HTTP/1.1") && !seen.contains("TOKEN"), "{seen}");
}

#[tokio::test]
async fn a_token_in_a_response_is_not_passed_on() {
    let address = echo_server().await;
    let scene = Scene::new(&format!("http://{address}"), &[&address.to_string()], PostPolicy::Nothing);
    let refused = scene.get("/as-it-is").await;
    assert!(matches!(refused, Err(Error::HttpRequestDenied)), "{refused:?}");
    let (denials, sent) = scene.outcome();
    assert_eq!(denials, [format!("read the token: `{address}` sent it back")]);
    assert_eq!(sent.failure.as_deref(), Some("the answer contains the token"));
}

#[tokio::test]
async fn an_encoded_response_is_not_passed_on() {
    let scene = granted(echo_server().await, PostPolicy::Nothing);
    let refused = scene.get("/encoded").await;
    assert!(matches!(&refused, Err(Error::HttpResponseContentCoding(Some(coding))) if coding == "gzip"), "{refused:?}");
    let (denials, sent) = scene.outcome();
    assert_eq!((denials.len(), sent.status), (0, Some(200)));
    assert_eq!(sent.failure.as_deref(), Some("the answer is encoded although that was not requested"));
}

#[tokio::test]
async fn only_granted_hosts_ports_and_addresses_can_be_reached() {
    let (service, other) = (echo_server().await, echo_server().await);
    let scene = granted(service, PostPolicy::GraphqlQueries);
    for (uri, part) in [
        (format!("http://{other}/"), format!("connect to `{other}`: this host is not granted")),
        ("https://evil.example/".to_owned(), "connect to `evil.example:443`: this host is not granted".to_owned()),
        ("http://169.254.169.254/latest".to_owned(), "this host is not granted".to_owned()),
        (format!("http://me:x@{service}/"), "with a user name".to_owned()),
        ("http://127.0.0.1:99999/".to_owned(), "connect to `127.0.0.1:99999`: not a valid host and port".to_owned()),
        ("http://me@127.0.0.1:http/".to_owned(), "connect to `127.0.0.1:http`: not a valid host and port".to_owned()),
    ] {
        for method in [Method::GET, Method::POST] {
            let denial = scene.denial(method, &uri, "").await;
            assert!(denial.contains(&part), "{denial}");
        }
    }
    let port = service.port();
    let scene = Scene::new("https://localhost.example", &[&format!("localhost.example:{port}")], PostPolicy::Nothing);
    let denial = scene.denial(Method::GET, &format!("http://localhost.example:{port}/"), "").await;
    assert!(denial.ends_with("`http` is not encrypted"), "{denial}");
}

#[tokio::test]
async fn a_name_with_a_private_address_needs_a_private_grant() {
    let port = echo_server().await.port();
    // Every resolver knows `localhost`; its pattern is made to look like one of a public name.
    let pattern: HostPattern = format!("localhost:{port}").parse().unwrap();
    let mut scene = Scene::new("https://localhost", &[], PostPolicy::Nothing);
    scene.gate.hosts = [pattern.with_access_of(&"public.example".parse().unwrap())].into();
    let refused = scene.send(Method::GET, &format!("https://localhost:{port}/"), &[], "").await;
    assert!(matches!(refused, Err(Error::DestinationIpProhibited)), "{refused:?}");
    let (denials, sent) = scene.outcome();
    assert!(denials[0].ends_with("the grant does not say `private:localhost`"), "{denials:?}");
    assert_eq!(sent.failure.as_deref(), Some("this address is not granted"));
}

#[tokio::test]
async fn unencrypted_requests_stay_in_the_local_network() {
    // Every resolver parses this as the address 8.0.8.8, without a lookup.
    for name in ["8.2056", "8.0.8.8"] {
        let scene = Scene::new("https://service.example", &[&format!("private:{name}")], PostPolicy::Nothing);
        let refused = scene.send(Method::GET, &format!("http://{name}/"), &[], "").await;
        assert!(matches!(refused, Err(Error::DestinationIpProhibited)), "{refused:?}");
        let (denials, sent) = scene.outcome();
        let expected = format!("connect to `{name}:80`: it is not in the local network, and `http` is not encrypted");
        assert_eq!(denials, [expected]);
        assert_eq!(sent.failure.as_deref(), Some("this address is not granted"));
    }
}

#[tokio::test]
async fn integrations_only_read() {
    let address = echo_server().await;
    for posts in [PostPolicy::Nothing, PostPolicy::GraphqlQueries, PostPolicy::ToBaseUrl] {
        let scene = granted(address, posts);
        for method in [Method::PUT, Method::PATCH, Method::DELETE, Method::HEAD, Method::OPTIONS, Method::CONNECT] {
            let denial = scene.denial(method, &scene.address, "").await;
            assert!(denial.ends_with("integrations only read"), "{denial}");
        }
        let denial = scene.denial(Method::GET, &format!("{}/x", scene.address), "a body").await;
        assert!(denial.ends_with("it must not have a body"), "{denial}");
        assert!(scene.get("/x").await.is_ok());
    }
    let scene = granted(address, PostPolicy::Nothing);
    assert!(scene.post("/graphql", r#"{"query": "{ a }"}"#).await.is_err());
}

#[tokio::test]
async fn graphql_queries_are_only_sent_to_the_graphql_url() {
    let address = echo_server().await;
    let scene = granted(address, PostPolicy::GraphqlQueries);
    let query = r#"{"query": "{ a }"}"#;
    for path in ["", "/graphql"] {
        let seen = scene.post(path, query).await.unwrap();
        assert!(seen.ends_with("\r\n\r\n{\"QUERY\":\"{ A }\"}"), "{seen}");
        assert!(seen.contains("CONTENT-TYPE: APPLICATION/JSON"), "{seen}");
    }
    for (path, body, part) in [
        ("/graphql", r#"{"query": "mutation { a }"}"#, "it contains a `mutation`, and only a `query` is allowed"),
        ("/graphql", r#"[{"query": "{ a }"}]"#, "its body is not a GraphQL query"),
        ("/graphql", "", "its body is not a GraphQL query"),
        ("/issues", query, "integrations only read"),
        ("/graphql/x", query, "integrations only read"),
        ("/../graphql", query, "its path contains a `.` or `..` segment"),
        ("/graphql?query=mutation%7Ba%7D", query, "a GraphQL request must not have a query string"),
        ("?query=mutation%7Ba%7D", query, "a GraphQL request must not have a query string"),
        ("/graphql?", query, "a GraphQL request must not have a query string"),
    ] {
        let denial = scene.denial(Method::POST, &format!("{}{path}", scene.address), body).await;
        assert!(denial.ends_with(part), "{path} {body}: {denial}");
    }
    for path in ["/graphql?query=mutation%7Ba%7D", "/GraphQL?a", "/%2567raphql?a", "?query=mutation%7Ba%7D", "/?a"] {
        let denial = scene.denial(Method::GET, &format!("{}{path}", scene.address), "").await;
        assert!(denial.ends_with("GraphQL queries must be sent with `POST`"), "{path}: {denial}");
    }
    assert!(scene.get("").await.is_ok() && scene.get("/issues?query=open").await.is_ok());
    let long = format!("{{\"query\": \"{{ a }} #{}\"}}", "x".repeat(300 << 10));
    assert!(matches!(scene.post("/graphql", &long).await, Err(Error::HttpRequestDenied)));

    let base_url = format!("http://{address}/api/v3");
    let enterprise = Scene::new(&base_url, &[&address.to_string()], PostPolicy::GraphqlQueries);
    let beside = format!("http://{address}/api/graphql");
    assert!(enterprise.send(Method::POST, &beside, &[], query).await.is_ok());
}

#[tokio::test]
async fn paths_with_dot_segments_are_denied_in_every_encoding() {
    let scene = granted(echo_server().await, PostPolicy::Nothing);
    let paths = "/../x /%2e%2E/x /%252e%252e/x /%25252e./x /..;/x /..;a=b/x /..%3b/x /..%3Fx /..%23 /..%00/x \
        /a%5c..%5cx /a%252f..%252fx /./x";
    for path in paths.split_whitespace() {
        let denial = scene.denial(Method::GET, &format!("{}{path}", scene.address), "").await;
        assert!(denial.ends_with("its path contains a `.` or `..` segment"), "{path}: {denial}");
    }
    for path in ["/...", "/a..b", "/..a", "/%252525", "/100%25", "/a;b/c", "/x?y=../z"] {
        assert!(scene.get(path).await.is_ok(), "{path}");
    }
}

#[tokio::test]
async fn a_gateway_receives_any_body_at_its_base_url_only() {
    let scene = granted(echo_server().await, PostPolicy::ToBaseUrl);
    assert!(scene.post("", "anything").await.unwrap().ends_with("\r\n\r\nANYTHING"));
    assert!(scene.post("/other", "anything").await.is_err());
}

#[tokio::test]
async fn the_number_of_requests_is_limited() {
    let scene = granted(echo_server().await, PostPolicy::Nothing);
    for _ in 0..MAX_REQUESTS {
        scene.get("/").await.unwrap();
    }
    assert!(matches!(scene.get("/").await, Err(Error::HttpRequestDenied)));
    assert_eq!(scene.outcome().0, [format!("send more than {MAX_REQUESTS} requests for one question")]);
}

#[tokio::test]
async fn scripts_send_any_request_to_granted_hosts() {
    let address = echo_server().await;
    let mut scene = Scene::new(&format!("http://{address}"), &[], PostPolicy::Nothing);
    scene.gate = Gate::new(&[address.to_string().parse().unwrap()], Denials::default());
    let uri = format!("http://{address}/x");
    let seen = scene.send(Method::DELETE, &uri, &[("authorization", "mine")], "a body").await.unwrap();
    assert!(seen.starts_with("DELETE /X") && seen.contains("AUTHORIZATION: MINE"), "{seen}");
    assert!(!seen.contains("TOKEN"), "{seen}");
    assert!(scene.send(Method::GET, "http://other.example/", &[], "").await.is_err());
    assert_eq!(scene.denials(), ["connect to `other.example:80`: this host is not granted"]);
}

#[test]
fn the_response_timeout_of_an_integration_is_not_limited_by_the_gate() {
    let (script, integration) =
        (Gate::new(&[], Denials::default()), Scene::new("https://a.example", &[], PostPolicy::Nothing));
    let minutes = |number| Duration::from_mins(number);
    assert_eq!((script.response_timeout(None), script.response_timeout(Some(minutes(9)))), (minutes(1), minutes(1)));
    assert_eq!(integration.gate.response_timeout(None), Duration::MAX);
    for time in [minutes(9), Duration::from_secs(1)] {
        assert_eq!(integration.gate.response_timeout(Some(time)), time);
    }
}

#[test]
fn a_target_is_parsed_from_a_url() {
    let target = |text: &str| Target::of(&text.parse().unwrap()).map(|target| (target.secure, target.to_string()));
    for (text, secure, expected) in [
        ("https://API.Example.com/x", true, "api.example.com:443"),
        ("http://example.com", false, "example.com:80"),
        ("https://example.com:8443", true, "example.com:8443"),
        ("https://me@example.com:8443", true, "example.com:8443"),
        ("http://[::1]:8080/", false, "[::1]:8080"),
        ("http://[::1]/", false, "[::1]:80"),
    ] {
        assert_eq!(target(text), Some((secure, expected.to_owned())), "{text}");
    }
    for invalid in
        ["/only/a/path", "https://example.com:99999", "https://example.com:https", "http://[a@example.com]:80/"]
    {
        assert_eq!(target(invalid), None, "{invalid}");
    }
}

#[tokio::test]
async fn tricks_in_a_url_do_not_change_which_host_is_checked() {
    let (service, other) = (echo_server().await, echo_server().await);
    let scene = Scene::new(&format!("http://{service}"), &[&service.to_string()], PostPolicy::Nothing);
    // A redirect may contain a fragment, which is not sent.
    for end in [format!("/a#@{other}/b"), format!("/a?#@{other}"), "/a#".to_owned(), format!("#@{other}/")] {
        let seen = scene.send(Method::GET, &format!("http://{service}{end}"), &[], "").await.unwrap();
        assert!(
            seen.starts_with("GET /A HTTP/1.1") || seen.starts_with("GET /A? ") || seen.starts_with("GET / "),
            "{seen}"
        );
        assert!(seen.contains(&format!("HOST: {service}\r\n")), "{seen}");
    }
    for (uri, part) in [
        (format!("http://{service}@{other}/"), "not granted"),
        (format!("http://{other}#@{service}/"), "not granted"),
        (format!("http://{other}?@{service}/"), "not granted"),
        (format!("http://{}:0/", service.ip()), "not granted"),
        (format!("http://{}./", service.ip()), "not granted"),
    ] {
        let denial = scene.denial(Method::GET, &uri, "").await;
        assert!(denial.contains(part), "{uri}: {denial}");
    }
    for text in [
        format!("http://{service}\\@{other}/"),
        format!("http://{service}\t@{other}/"),
        format!("http://{service}\n.evil.example/"),
        format!("http://{service}%40{other}/"),
        "http://granted.exämple/".to_owned(),
        "http://granted。example/".to_owned(),
        "http://[::1/".to_owned(),
        "http://a b/".to_owned(),
        "http:///a".to_owned(),
    ] {
        assert!(text.parse::<Uri>().is_err(), "{text}");
    }
}
