use super::*;
use hyper::header::AUTHORIZATION;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

/// Admits requests with a token, and answers with the length of the body.
struct Door;

impl Handler for Door {
    fn refuse(&self, _: IpAddr, head: &Parts) -> Option<HttpResponse> {
        let is_valid = head.headers.get(AUTHORIZATION).is_some_and(|value| value == "valid");
        (!is_valid).then(|| response(StatusCode::UNAUTHORIZED, "text/plain", ""))
    }

    async fn answer(&self, _: Parts, body: Incoming) -> HttpResponse {
        let length = body.collect().await.map_or(0, |body| body.to_bytes().len());
        response(StatusCode::OK, "text/plain", length.to_string())
    }
}

struct Server {
    address: SocketAddr,
    ended: CancellationToken,
    serving: JoinHandle<()>,
}

impl Server {
    /// Heads have no timeout that a test would wait for, so only an eviction makes room.
    async fn with_places(connections: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, ended) = (listener.local_addr().unwrap(), CancellationToken::new());
        let limits = Limits { connections, head_timeout: Duration::from_hours(1) };
        let serving = serve_within(limits, listener, Arc::new(Door), ended.clone(), Duration::from_mins(1));
        Self { address, ended, serving: tokio::spawn(serving) }
    }

    async fn client(&self, text: &str) -> TcpStream {
        let mut client = TcpStream::connect(self.address).await.unwrap();
        client.write_all(text.as_bytes()).await.unwrap();
        client
    }

    async fn end(self) {
        self.ended.cancel();
        self.serving.await.unwrap();
    }
}

/// Reads a response that ends with this text.
async fn reply(client: &mut TcpStream, end: &str) -> String {
    let mut text = Vec::new();
    while !text.ends_with(end.as_bytes()) && client.read_buf(&mut text).await.unwrap() > 0 {}
    String::from_utf8(text).unwrap()
}

/// Reads until the server closes the connection. A reset is an end too: the server may not have read everything.
async fn rest(client: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let _ = client.read_to_end(&mut text).await;
    String::from_utf8(text).unwrap()
}

const HALF: &str = "POST / HTTP/1.1\r\nHost: loc";
const VALID: &str = "POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: valid\r\nContent-Length: 2\r\n";

#[tokio::test]
async fn half_open_connections_make_room_for_requests() {
    let server = Server::with_places(8).await;
    let mut half_open = Vec::new();
    for _ in 0..100 {
        half_open.push(server.client(HALF).await);
    }
    for _ in 0..20 {
        let mut client = server.client(&format!("{VALID}\r\nab")).await;
        assert!(reply(&mut client, "\r\n\r\n2").await.starts_with("HTTP/1.1 200 "));
        half_open.push(server.client(HALF).await);
    }
    for evicted in &mut half_open[..100] {
        assert_eq!(rest(evicted).await, "");
    }
    server.end().await;
}

#[tokio::test]
async fn connections_with_an_admitted_request_stay() {
    let server = Server::with_places(8).await;
    // One is idle between requests, one has sent a part of its body.
    let mut idle = server.client(&format!("{VALID}\r\nab")).await;
    assert!(reply(&mut idle, "\r\n\r\n2").await.starts_with("HTTP/1.1 200 "));
    let mut slow = server.client(&format!("{VALID}Expect: 100-continue\r\n\r\n")).await;
    assert_eq!(reply(&mut slow, "\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n");
    slow.write_all(b"a").await.unwrap();
    let mut half_open = Vec::new();
    for _ in 0..50 {
        half_open.push(server.client(HALF).await);
    }
    for evicted in &mut half_open[..44] {
        assert_eq!(rest(evicted).await, "");
    }
    slow.write_all(b"b").await.unwrap();
    assert!(reply(&mut slow, "\r\n\r\n2").await.starts_with("HTTP/1.1 200 "));
    idle.write_all(format!("{VALID}\r\nab").as_bytes()).await.unwrap();
    assert!(reply(&mut idle, "\r\n\r\n2").await.starts_with("HTTP/1.1 200 "));
    server.end().await;
}

#[tokio::test]
async fn without_a_token_no_body_is_awaited_and_the_connection_closes() {
    let server = Server::with_places(8).await;
    let text = format!("{}\r\na", VALID.replace("valid", "wrong"));
    let answer = rest(&mut server.client(&text).await).await;
    assert!(answer.starts_with("HTTP/1.1 401 ") && answer.contains("connection: close\r\n"), "{answer}");
    server.end().await;
}

#[tokio::test]
async fn a_connection_waits_if_all_others_are_in_use() {
    let server = Server::with_places(2).await;
    let expecting = format!("{VALID}Expect: 100-continue\r\n\r\n");
    let mut busy = [server.client(&expecting).await, server.client(&expecting).await];
    for client in &mut busy {
        assert_eq!(reply(client, "\r\n\r\n").await, "HTTP/1.1 100 Continue\r\n\r\n");
    }
    let mut waiting = server.client(&format!("{VALID}\r\nab")).await;
    assert!(waiting.try_read(&mut [0]).is_err(), "there is no place for it");
    let [first, second] = busy;
    drop(first);
    assert!(reply(&mut waiting, "\r\n\r\n2").await.starts_with("HTTP/1.1 200 "));
    drop(second);
    server.end().await;
}
