//! Datagrams between hosts, and Unix sockets inside one.

use super::{assert_all_seen, found, passes_with};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{UdpSocket, UnixDatagram, UnixListener, UnixStream};
use colored::sim::{self, Builder, Fault, Faults, sometimes};
use colored::spawn;
use colored::time::{Duration, sleep, timeout};
use std::io::ErrorKind;

const SECOND: Duration = Duration::from_secs(1);

/// Sends each datagram back.
async fn echo() {
    let socket = UdpSocket::bind("0.0.0.0:7").await.unwrap();
    let mut buf = [0; 2000];
    loop {
        let (len, from) = socket.recv_from(&mut buf).await.unwrap();
        socket.send_to(&buf[..len], from).await.unwrap();
    }
}

#[test]
fn datagrams_keep_their_limits_and_senders() {
    passes_with(Builder::new().seeds(0..50).host("a", echo), || async {
        let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        socket.send_to(b"one", "a:7").await.unwrap();
        socket.send_to(b"three", "a:7").await.unwrap();
        let mut buf = [0; 4];
        assert_eq!(socket.peek(&mut buf).await.unwrap(), 3);
        let (len, from) = socket.recv_from(&mut buf).await.unwrap();
        assert_eq!((&buf[..len], from.to_string().as_str()), (&b"one"[..], "10.0.0.2:7"));
        assert_eq!(socket.peek_sender().await.unwrap(), from);
        assert_eq!(socket.recv(&mut buf).await.unwrap(), 4, "the rest is lost");
        assert_eq!(socket.try_recv(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        let error = socket.send_to(&[0; 70_000], "a:7").await.unwrap_err();
        if cfg!(target_os = "linux") {
            assert!(error.to_string().starts_with("Message too long"), "{error}");
        }
        let joined =
            socket.join_multicast_v4("224.0.0.1".parse().unwrap(), "0.0.0.0".parse().unwrap());
        assert_eq!(joined.unwrap_err().kind(), ErrorKind::Unsupported);
    });
}

#[test]
fn a_connected_socket_hears_that_nobody_is_there() {
    passes_with(Builder::new().seeds(0..50).host("a", echo), || async {
        let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        socket.connect("a:8").await.unwrap();
        socket.send(b"anybody?").await.unwrap();
        let error = socket.recv(&mut [0; 4]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        socket.connect("a:7").await.unwrap();
        assert_eq!(socket.peer_addr().unwrap().to_string(), "10.0.0.2:7");
        socket.send(b"hello").await.unwrap();
        assert_eq!(socket.recv(&mut [0; 8]).await.unwrap(), 5);
    });
}

/// Sends ten numbers, and returns what comes back.
async fn numbers() -> Vec<u8> {
    let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    for number in 0..10 {
        socket.send_to(&[number], "a:7").await.unwrap();
        sleep(Duration::from_millis(1)).await;
    }
    let mut back = Vec::new();
    let mut buf = [0];
    while timeout(60 * SECOND, socket.recv(&mut buf)).await.is_ok() {
        back.push(buf[0]);
    }
    back
}

#[test]
fn datagrams_are_lost_doubled_and_reordered() {
    let faults = Faults::none().with(Fault::Loss).with(Fault::Doubling).with(Fault::Delay);
    let report = Builder::new().seeds(0..100).faults(faults).host("a", echo).run(|| async {
        let back = numbers().await;
        let mut distinct = back.clone();
        distinct.sort_unstable();
        distinct.dedup();
        sometimes!(distinct.len() < 10, "lost");
        sometimes!(back.len() > distinct.len(), "doubled");
        sometimes!(!back.is_sorted(), "reordered");
        sometimes!(back == (0..10).collect::<Vec<_>>(), "as sent");
    });
    assert_all_seen(&report);
    passes_with(Builder::new().seeds(0..20).host("a", echo), || async {
        assert_eq!(numbers().await, (0..10).collect::<Vec<_>>(), "without faults");
    });
}

#[test]
fn a_failure_is_shrunk_to_the_faults_that_it_needs() {
    let report = Builder::new().faults(Faults::swarm()).host("a", echo).run(|| async {
        // A bug: the answer is waited for, for ever.
        let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        for number in 0..10 {
            socket.send_to(&[number], "a:7").await.unwrap();
            let answer = timeout(600 * SECOND, socket.recv(&mut [0])).await;
            sim::always!(answer.is_ok(), "an answer comes");
        }
    });
    let failure = found(&report);
    assert!(failure.message().contains("an answer comes"), "{failure}");
    assert!(failure.choices() <= 3, "{failure}");
}

#[test]
fn unix_sockets_connect_inside_a_host() {
    passes_with(Builder::new().seeds(0..100), || async {
        let listener = UnixListener::bind("/run/echo").unwrap();
        assert_eq!(UnixListener::bind("/run/echo").unwrap_err().kind(), ErrorKind::AddrInUse);
        let server = spawn(async move {
            let (mut stream, peer) = listener.accept().await.unwrap();
            assert!(peer.is_unnamed());
            let mut text = String::new();
            stream.read_to_string(&mut text).await.unwrap();
            stream.write_all(text.to_uppercase().as_bytes()).await.unwrap();
        });
        let mut stream = UnixStream::connect("/run/echo").await.unwrap();
        assert_eq!(stream.peer_addr().unwrap().as_pathname().unwrap().to_str(), Some("/run/echo"));
        stream.write_all(b"hello").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "HELLO");
        server.await.unwrap();
        // The file of the socket is there, and nobody listens.
        let error = UnixStream::connect("/run/echo").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        colored::fs::remove_file("/run/echo").await.unwrap();
        let error = UnixStream::connect("/run/echo").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let (mut one, mut other) = UnixStream::pair().unwrap();
        one.write_all(b"!").await.unwrap();
        assert_eq!(other.read_u8().await.unwrap(), b'!');
        assert_eq!(UnixDatagram::unbound().unwrap_err().kind(), ErrorKind::Unsupported);
    });
}
