//! Listening and accepting.

use std::future::{Future, poll_fn};
use std::io::ErrorKind;
use std::net::TcpStream as StdStream;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::io::{AsyncReadExt, named};
use crate::net::testing::{listen, run};
use crate::net::{TcpListener, TcpStream};

fn poll_once<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn several_tasks_accept_on_one_listener() {
    run(async {
        let (listener, addr) = listen().await;
        let clients = [(); 3].map(|()| StdStream::connect(addr).unwrap());
        let (a, b, c) = tokio::join!(listener.accept(), listener.accept(), listener.accept());
        let mut accepted = [a, b, c].map(|accepted| accepted.unwrap().1);
        let mut connected = clients.map(|client| client.local_addr().unwrap());
        accepted.sort();
        connected.sort();
        assert_eq!(accepted, connected);
    });
}

#[test]
fn an_acceptor_that_is_dropped_leaves_no_trace() {
    run(async {
        let (listener, addr) = listen().await;
        {
            let mut first = pin!(listener.accept());
            let mut second = pin!(listener.accept());
            assert!(poll_once(first.as_mut()).is_pending());
            assert!(poll_once(second.as_mut()).is_pending());
            assert_eq!(listener.acceptors(), 2);
        }
        assert_eq!(listener.acceptors(), 0);
        let client = StdStream::connect(addr).unwrap();
        assert_eq!(listener.accept().await.unwrap().1, client.local_addr().unwrap());
    });
}

#[test]
fn poll_accept_accepts() {
    run(async {
        let (listener, addr) = listen().await;
        let accept = poll_fn(|cx| listener.poll_accept(cx));
        let (accepted, client) = tokio::join!(accept, TcpStream::connect(addr));
        assert_eq!(accepted.unwrap().1, client.unwrap().local_addr().unwrap());
    });
}

#[test]
fn a_port_in_use_is_named() {
    run(async {
        let (_listener, addr) = listen().await;
        let error = named(TcpListener::bind(addr)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        let of_std = std::net::TcpListener::bind(addr).unwrap_err();
        assert_eq!(error.raw_os_error(), of_std.raw_os_error());
        assert_eq!(error.to_string(), format!("cannot listen on {addr}: {of_std}"));
    });
}

#[test]
fn the_next_address_is_tried() {
    run(async {
        let (_listener, taken) = listen().await;
        let free = "127.0.0.1:0".parse().unwrap();
        let listener = TcpListener::bind([taken, free]).await.unwrap();
        assert_ne!(listener.local_addr().unwrap(), taken);
    });
}

#[test]
fn no_address_is_an_error() {
    run(async {
        let error = TcpListener::bind(&[][..]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let text = "cannot listen on an empty list: it has no address; at least one is needed";
        assert_eq!(error.to_string(), text);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn two_listeners_share_a_port_if_both_ask() {
    run(async {
        let options = crate::net::ListenOptions::new().reuse_port(true).backlog(16).ttl(33);
        let first = options.listen("127.0.0.1:0").await.unwrap();
        let addr = first.local_addr().unwrap();
        let second = options.listen(addr).await.unwrap();
        assert_eq!(second.local_addr().unwrap(), addr);
        assert_eq!(second.ttl().unwrap(), 33);
        assert!(TcpListener::bind(addr).await.is_err());
    });
}

#[test]
fn a_listener_goes_to_std_and_back() {
    run(async {
        let (listener, addr) = listen().await;
        let std: std::net::TcpListener = listener.try_into().unwrap();
        let listener = TcpListener::try_from(std).unwrap();
        let (accepted, client) = tokio::join!(listener.accept(), TcpStream::connect(addr));
        accepted.unwrap();
        client.unwrap();
    });
}

#[test]
fn many_connections_in_one_backlog() {
    run(async {
        let (listener, addr) = listen().await;
        let clients = (0..200).map(|_| StdStream::connect(addr).unwrap()).collect::<Vec<_>>();
        let mut accepted = Vec::new();
        for _ in &clients {
            accepted.push(listener.accept().await.unwrap().0);
        }
        drop(clients);
        for mut stream in accepted {
            assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0);
        }
    });
}
