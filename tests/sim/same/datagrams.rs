//! UDP.

use super::{settle, told};
use colored::net::UdpSocket;
use colored::time::{Duration, timeout};
use std::net::SocketAddr;
use std::path::PathBuf;

super::rows![
    what_came_before_a_connect,
    who_is_heard_after_a_connect,
    lengths,
    a_used_port,
    nobody_there,
    no_destination,
    datagrams_of_both_families,
    peers,
];

async fn bound() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let addr = socket.local_addr().unwrap();
    (socket, addr)
}

/// What is received within a moment.
async fn received(socket: &UdpSocket) -> String {
    let mut buf = [0; 64];
    match timeout(Duration::from_millis(20), socket.recv(&mut buf)).await {
        Ok(got) => told("got", got.map(|len| String::from_utf8(buf[..len].to_vec()).unwrap())),
        Err(_) => "got nothing".to_owned(),
    }
}

async fn what_came_before_a_connect(_: PathBuf) -> Vec<String> {
    let [(one, to), (other, peer), (stranger, _)] = [bound().await, bound().await, bound().await];
    stranger.send_to(b"from a stranger", to).await.unwrap();
    other.send_to(b"from the peer", to).await.unwrap();
    settle().await;
    one.connect(peer).await.unwrap();
    vec![received(&one).await, received(&one).await, received(&one).await]
}

async fn who_is_heard_after_a_connect(_: PathBuf) -> Vec<String> {
    let [(one, to), (other, peer), (stranger, from)] =
        [bound().await, bound().await, bound().await];
    one.connect(peer).await.unwrap();
    stranger.send_to(b"from a stranger", to).await.unwrap();
    other.send_to(b"from the peer", to).await.unwrap();
    settle().await;
    let mut seen = vec![received(&one).await, received(&one).await];
    // Another peer takes the place of the first.
    one.connect(from).await.unwrap();
    seen.push(told("peer", one.peer_addr().map(|peer| peer == from)));
    // A connected socket sends to others, too.
    seen.push(told("to another", one.send_to(b"hello", peer).await));
    settle().await;
    seen.push(received(&other).await);
    seen
}

async fn lengths(_: PathBuf) -> Vec<String> {
    let [(one, to), (other, _)] = [bound().await, bound().await];
    for datagram in [&b"longer than the buffer"[..], b"", b"next"] {
        other.send_to(datagram, to).await.unwrap();
    }
    settle().await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let mut buf = [0; 6];
        let got = one.recv_from(&mut buf).await;
        seen.push(told("cut", got.map(|(len, _)| String::from_utf8(buf[..len].to_vec()).unwrap())));
    }
    seen.push(told("none", one.try_recv(&mut [0; 6])));
    let kind = |sent: std::io::Result<usize>| sent.map_err(|error| error.kind());
    seen.push(format!("too long: {:?}", kind(other.send_to(&[0; 65_508], to).await)));
    seen.push(format!("longest: {:?}", kind(other.send_to(&[0; 65_507], to).await)));
    seen
}

async fn a_used_port(_: PathBuf) -> Vec<String> {
    let (socket, addr) = bound().await;
    let mut seen = vec![told("again", UdpSocket::bind(addr).await.map(drop))];
    let any = SocketAddr::new("0.0.0.0".parse().unwrap(), addr.port());
    seen.push(told("any", UdpSocket::bind(any).await.map(drop)));
    let other = SocketAddr::new("127.0.0.2".parse().unwrap(), addr.port());
    if cfg!(target_os = "linux") {
        seen.push(told("other address", UdpSocket::bind(other).await.map(drop)));
    }
    drop(socket);
    seen.push(told("after its end", UdpSocket::bind(addr).await.map(drop)));
    let foreign = UdpSocket::bind("192.0.2.1:0").await;
    seen.push(told("foreign", foreign.map(drop)));
    seen
}

async fn nobody_there(_: PathBuf) -> Vec<String> {
    let (one, _) = bound().await;
    let (gone, addr) = bound().await;
    drop(gone);
    let mut seen = vec![told("unconnected", one.send_to(b"?", addr).await)];
    settle().await;
    seen.push(told("unconnected again", one.send_to(b"?", addr).await));
    settle().await;
    seen.push(received(&one).await);
    one.connect(addr).await.unwrap();
    seen.push(told("connected", one.send(b"?").await));
    settle().await;
    seen.push(received(&one).await);
    seen.push(told("once", one.try_recv(&mut [0; 4])));
    seen.push(told("sent again", one.send(b"?").await));
    settle().await;
    seen.push(told("the next send", one.send(b"?").await));
    seen
}

async fn no_destination(_: PathBuf) -> Vec<String> {
    let (one, _) = bound().await;
    let mut seen = vec![told("send", one.send(b"?").await), told("peer", one.peer_addr())];
    seen.push(told("other family", one.send_to(b"?", "[::1]:9").await));
    seen.push(told("connect to the other family", one.connect("[::1]:9").await));
    seen
}

async fn datagrams_of_both_families(_: PathBuf) -> Vec<String> {
    let any = UdpSocket::bind("[::]:0").await.unwrap();
    let port = any.local_addr().unwrap().port();
    let (four, addr) = bound().await;
    four.send_to(b"hello", ("127.0.0.1", port)).await.unwrap();
    let mut buf = [0; 8];
    let (_, from) = any.recv_from(&mut buf).await.unwrap();
    let mut seen = vec![format!("from: {}, the port: {}", from.ip(), from.port() == addr.port())];
    seen.push(told("answer", any.send_to(b"answer", from).await));
    seen.push(received(&four).await);
    seen.push(told("to an address of IPv4", any.send_to(b"plain", addr).await));
    seen.push(received(&four).await);
    let taken = UdpSocket::bind(("0.0.0.0", port)).await;
    seen.push(told("the other family", taken.map(drop)));
    let mapped = SocketAddr::new("::ffff:127.0.0.1".parse().unwrap(), addr.port());
    seen.push(told("connect", any.connect(mapped).await));
    seen.push(told("peer", any.peer_addr().map(|peer| peer == mapped)));
    seen.push(told("own", any.local_addr().map(|own| own.ip())));
    four.send_to(b"from the peer", ("127.0.0.1", port)).await.unwrap();
    seen.push(received(&any).await);
    seen
}

async fn peers(_: PathBuf) -> Vec<String> {
    let any = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    let mut seen = vec![told("own", any.local_addr().map(|own| own.ip()))];
    let (_other, addr) = bound().await;
    any.connect(addr).await.unwrap();
    seen.push(told("own", any.local_addr().map(|own| own.ip())));
    seen.push(told("peer", any.peer_addr().map(|peer| peer == addr)));
    seen
}
