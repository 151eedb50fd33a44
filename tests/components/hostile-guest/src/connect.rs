//! A script reaches no network, not even this machine's, and asks nobody for an address.

use crate::{argument, tell};
use std::net::{TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};

pub fn connect() {
    let port: u16 = argument("PORT").parse().expect("the port of somebody who listens");
    tell("stream", TcpStream::connect(("127.0.0.1", port)));
    tell("stream to IPv6", TcpStream::connect(("::ffff:127.0.0.1", port)));
    tell("listening", TcpListener::bind("0.0.0.0:0"));
    let sent = UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.send_to(b"stolen", ("127.0.0.1", port)));
    tell("datagram", sent);
    tell("name", "localhost:80".to_socket_addrs().map(Iterator::collect::<Vec<_>>));
}
