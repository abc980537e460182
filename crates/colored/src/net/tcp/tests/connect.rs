//! Connecting.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener as StdListener, TcpStream as StdStream};
use std::time::Duration;

use socket2::SockRef;

use crate::io::{AsyncReadExt, AsyncWriteExt, named};
use crate::net::testing::{listen, run};
use crate::net::{ConnectOptions, ListenOptions, TcpStream, lookup_host};

/// Addresses without a listener. A port that was free a moment ago may be another test's now.
fn closed() -> [SocketAddr; 2] {
    [1, 2].map(|port| SocketAddr::from(([127, 0, 0, 1], port)))
}

#[test]
fn a_refused_connect_names_the_address() {
    run(async {
        let addr = closed()[0];
        let error = named(TcpStream::connect(addr)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let of_std = StdStream::connect(addr).unwrap_err();
        assert_eq!(error.raw_os_error(), of_std.raw_os_error());
        assert_eq!(error.to_string(), format!("cannot connect to {addr}: {of_std}"));
    });
}

#[test]
fn every_address_is_tried_and_named() {
    run(async {
        let [a, b] = closed();
        let text = named(TcpStream::connect([a, b])).await.unwrap_err().to_string();
        let of_std = StdStream::connect(a).unwrap_err();
        let expected =
            format!("cannot connect to a list of 2 addresses: {a}: {of_std}; {b}: {of_std}");
        assert_eq!(text, expected);
    });
}

#[test]
fn the_first_address_that_answers_is_taken() {
    run(async {
        let (_listener, addr) = listen().await;
        let stream = TcpStream::connect(&[closed()[0], addr][..]).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), addr);
    });
}

#[test]
fn an_unknown_host_is_named() {
    run(async {
        let error = named(TcpStream::connect("no-such-host.invalid:80")).await.unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("cannot resolve host \"no-such-host.invalid\": "), "{text}");
        assert!(text.contains("expected an IP address or a name"), "{text}");
    });
}

#[test]
fn a_host_name_is_resolved() {
    run(async {
        let (_listener, addr) = listen().await;
        let stream = TcpStream::connect(("localhost", addr.port())).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), addr);
        let mut found = lookup_host("localhost:7").await.unwrap();
        assert!(found.any(|found| found.ip().is_loopback() && found.port() == 7));
    });
}

#[test]
fn v6_works() {
    run(async {
        let Ok(listener) = ListenOptions::new().only_v6(true).listen("[::1]:0").await else {
            eprintln!("skipped: this machine has no IPv6 loopback");
            return;
        };
        let addr = listener.local_addr().unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(addr), listener.accept());
        assert_eq!(accepted.unwrap().1, client.unwrap().local_addr().unwrap());
    });
}

#[test]
fn a_connection_is_made_as_the_options_say() {
    run(async {
        let (listener, addr) = listen().await;
        let local: SocketAddr = "127.0.0.2:0".parse().unwrap();
        let options = ConnectOptions::new().send_buffer(20_000).receive_buffer(30_000);
        let options = options.bind(local).time_limit(Duration::from_secs(60));
        let (client, accepted) = tokio::join!(options.connect(addr), listener.accept());
        let (mut client, (mut server, peer)) = (client.unwrap(), accepted.unwrap());
        assert_eq!(client.local_addr().unwrap(), peer);
        assert_eq!(peer.ip(), local.ip());
        let socket = SockRef::from(&client);
        let sizes = (socket.send_buffer_size().unwrap(), socket.recv_buffer_size().unwrap());
        if cfg!(target_os = "linux") {
            assert_eq!(sizes, (40_000, 60_000), "Linux doubles them");
        }
        client.write_all(b"hello").await.unwrap();
        let mut buf = [0; 5];
        server.read_exact(&mut buf).await.unwrap();
        assert_eq!(&buf, b"hello");
    });
}

#[test]
fn an_address_that_cannot_be_bound_is_named() {
    run(async {
        let (_listener, addr) = listen().await;
        let (_other, taken) = listen().await;
        let options = ConnectOptions::new().bind(taken);
        let error = named(options.connect(addr)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        let of_std = StdListener::bind(taken).unwrap_err();
        assert_eq!(error.raw_os_error(), of_std.raw_os_error());
        let expected = format!("cannot connect to {addr}: bind({taken}): {of_std}");
        assert_eq!(error.to_string(), expected);
        let v6 = "[::1]:0".parse().unwrap();
        let error = ConnectOptions::new().bind(v6).connect(addr).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("bind([::1]:0): "), "{error}");
        let refused = ConnectOptions::new().send_buffer(5000).connect(closed()[0]).await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
    });
}

#[test]
fn a_buffer_out_of_its_range_is_refused() {
    run(async {
        let (_listener, addr) = listen().await;
        let new = ConnectOptions::new;
        for (options, given) in [
            (new().send_buffer(0), "send_buffer(0)"),
            (new().receive_buffer(0), "receive_buffer(0)"),
            (new().send_buffer(1 << 31), "send_buffer(2147483648)"),
        ] {
            let error = options.connect(addr).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            let text = format!("{given}: allowed are 1 to 2147483647 bytes");
            assert_eq!(error.to_string(), text);
        }
    });
}

/// A listener whose queue is full: Linux drops further connects, so that a connect waits.
#[test]
#[cfg(target_os = "linux")]
fn a_connect_ends_with_its_time_limit_and_can_be_dropped() {
    use std::task::{Context, Waker};
    run(async {
        let listener = StdListener::bind("127.0.0.1:0").unwrap();
        SockRef::from(&listener).listen(0).unwrap();
        let addr = listener.local_addr().unwrap();
        let _queued = std::net::TcpStream::connect(addr).unwrap();
        let limit = Duration::from_millis(30);
        let start = std::time::Instant::now();
        let options = ConnectOptions::new().time_limit(limit);
        let error = options.connect([closed()[0], addr, addr]).await.unwrap_err();
        assert!(start.elapsed() >= limit);
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        let text = error.to_string();
        let expected = format!("; {addr}: no answer when the time limit of 30ms was over");
        assert!(text.ends_with(&expected), "{text}");
        assert_eq!(text.matches("no answer").count(), 1, "the third is not tried: {text}");
        let options = ConnectOptions::new().receive_buffer(9000);
        let mut waiting = std::pin::pin!(options.connect(addr));
        let poll = waiting.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(poll.is_pending());
    });
}

/// Of what a task keeps while it connects: a second await of a connection would add some 400 bytes.
#[test]
fn the_future_of_a_connect_is_small() {
    let size = size_of_val(&TcpStream::connect("127.0.0.1:1"));
    // A socket that may be a simulated one is larger, and so are Windows' addresses.
    let most = if cfg!(feature = "sim") { 1150 } else { 1050 };
    assert!(size < most, "{size} bytes");
}
