//! Listening and accepting.

use std::future::poll_fn;
use std::os::unix::net::UnixStream as StdStream;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use socket2::{Domain, SockAddr, Socket, Type};

use super::{Place, UnixListener, UnixStream};
use crate::io::{AsyncReadExt, AsyncWriteExt};
use crate::net::testing::run;
use crate::time::timeout;

#[test]
fn several_tasks_accept_on_one_listener() {
    run(async {
        let place = Place::new();
        let listener = UnixListener::bind(&place.0).unwrap();
        let clients = [(); 3].map(|()| StdStream::connect(&place.0).unwrap());
        let (a, b, c) = tokio::join!(listener.accept(), listener.accept(), listener.accept());
        for accepted in [a, b, c] {
            let (stream, peer) = accepted.unwrap();
            assert!(peer.is_unnamed());
            assert_eq!(stream.local_addr().unwrap().as_pathname(), Some(&*place.0));
        }
        drop(clients);
    });
}

#[test]
fn poll_accept_accepts() {
    run(async {
        let place = Place::new();
        let listener = UnixListener::bind(&place.0).unwrap();
        let accept = poll_fn(|cx| listener.poll_accept(cx));
        let (accepted, client) = tokio::join!(accept, UnixStream::connect(&place.0));
        accepted.unwrap();
        assert_eq!(client.unwrap().peer_addr().unwrap().as_pathname(), Some(&*place.0));
    });
}

/// On Linux a connect to a full queue answers `EAGAIN`, and nothing tells when there is a place.
#[test]
#[cfg(target_os = "linux")]
fn connecting_waits_for_a_place_in_the_queue() {
    run(async {
        let place = Place::new();
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        socket.bind(&SockAddr::unix(&place.0).unwrap()).unwrap();
        socket.listen(0).unwrap();
        let listener = UnixListener::from_std(socket.into()).unwrap();
        let first = UnixStream::connect(&place.0).await.unwrap();
        let mut second = pin!(UnixStream::connect(&place.0));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(matches!(second.as_mut().poll(&mut cx), Poll::Pending), "there was a place");
        let early = timeout(Duration::from_millis(20), second.as_mut()).await;
        assert!(early.is_err(), "there was a place: {early:?}");
        listener.accept().await.unwrap();
        let mut second = second.await.unwrap();
        let mut accepted = listener.accept().await.unwrap().0;
        second.write_all(b"here").await.unwrap();
        let mut got = [0; 4];
        accepted.read_exact(&mut got).await.unwrap();
        assert_eq!(&got, b"here");
        drop(first);
    });
}

#[test]
fn a_listener_goes_to_the_standard_library_and_back() {
    run(async {
        let place = Place::new();
        let listener = UnixListener::bind(&place.0).unwrap();
        let theirs = std::os::unix::net::UnixListener::try_from(listener).unwrap();
        theirs.set_nonblocking(false).unwrap();
        let listener = UnixListener::try_from(theirs).unwrap();
        let early = timeout(Duration::from_millis(5), listener.accept()).await;
        assert!(early.is_err(), "nobody has connected: {early:?}");
        let client = StdStream::connect(&place.0).unwrap();
        listener.accept().await.unwrap();
        drop(client);
        assert!(listener.take_error().unwrap().is_none());
        assert!(format!("{listener:?}").contains("colored-"), "{listener:?}");
    });
}
