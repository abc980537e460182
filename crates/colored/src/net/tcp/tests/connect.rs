//! Connecting.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use crate::net::testing::{listen, run};
use crate::net::{ListenOptions, TcpStream, lookup_host};

/// An address where nobody listens.
async fn closed() -> SocketAddr {
    listen().await.1
}

#[test]
fn a_refused_connect_names_the_address() {
    run(async {
        let addr = closed().await;
        let error = TcpStream::connect(addr).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let text = error.to_string();
        let expected = format!("cannot connect to {addr}: Connection refused (os error");
        assert!(text.starts_with(&expected), "{text}");
        let source = error.get_ref().and_then(|error| error.source());
        let source = source.and_then(|error| error.downcast_ref::<io::Error>()).unwrap();
        assert!(source.raw_os_error().is_some());
    });
}

#[test]
fn every_address_is_tried_and_named() {
    run(async {
        let (a, b) = (closed().await, closed().await);
        let text = TcpStream::connect([a, b]).await.unwrap_err().to_string();
        assert!(text.starts_with("cannot connect to a list of 2 addresses: "), "{text}");
        assert!(text.contains(&format!("{a}: Connection refused")), "{text}");
        assert!(text.contains(&format!("; {b}: Connection refused")), "{text}");
    });
}

#[test]
fn the_first_address_that_answers_is_taken() {
    run(async {
        let (_listener, addr) = listen().await;
        let stream = TcpStream::connect(&[closed().await, addr][..]).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), addr);
    });
}

#[test]
fn an_unknown_host_is_named() {
    run(async {
        let error = TcpStream::connect("no-such-host.invalid:80").await.unwrap_err();
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
