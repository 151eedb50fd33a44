//! A script has no network, not even to this machine, and cannot resolve names.

use crate::{argument, report};
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};

pub fn connect() {
    let port: u16 = argument("PORT").parse().expect("a port number");
    report("stream", TcpStream::connect(("127.0.0.1", port)));
    report("stream to IPv6", TcpStream::connect(("::ffff:127.0.0.1", port)));
    report("listening", TcpListener::bind("0.0.0.0:0"));
    let sent = UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.send_to(b"stolen", ("127.0.0.1", port)));
    report("datagram", sent);
    report("name", "localhost:80".to_socket_addrs().map(Iterator::collect::<Vec<_>>));
}
