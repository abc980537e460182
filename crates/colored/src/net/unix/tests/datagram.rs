//! Tests of datagrams.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::Shutdown;

use super::Place;
use crate::io::{ReadBuf, named, named_call};
use crate::net::UnixDatagram;
use crate::services::testing::run;

#[test]
fn datagrams_keep_their_bounds_and_name_their_sender() {
    run(async {
        let (place, other) = (Place::new(), Place::new());
        let server = UnixDatagram::bind(&place.0).unwrap();
        let client = UnixDatagram::bind(&other.0).unwrap();
        let mut buf = [0; 100];
        for len in [0, 1, 99, 100] {
            assert_eq!(client.send_to(&vec![7; len], &place.0).await.unwrap(), len);
            let (got, from) = server.recv_from(&mut buf).await.unwrap();
            assert_eq!((got, from.as_pathname()), (len, Some(&*other.0)));
        }
        client.connect(&place.0).unwrap();
        assert_eq!(client.peer_addr().unwrap().as_pathname(), Some(&*place.0));
        client.send(b"hello").await.unwrap();
        let mut buf = ReadBuf::new(&mut buf);
        let from = poll_fn(|cx| server.poll_recv_from(cx, &mut buf)).await.unwrap();
        assert_eq!((buf.filled(), from.as_pathname()), (&b"hello"[..], Some(&*other.0)));
    });
}

/// Of the room in a peer's queue the system tells a sender that is connected; the other one asks again.
#[test]
fn senders_wait_for_room_and_nothing_is_lost() {
    const DATAGRAMS: u32 = 5_000;
    #[derive(Clone, Copy, PartialEq)]
    enum Sender {
        Connected,
        To,
        PollTo,
    }
    run(async {
        for sender in [Sender::Connected, Sender::To, Sender::PollTo] {
            let place = Place::new();
            let server = UnixDatagram::bind(&place.0).unwrap();
            let client = UnixDatagram::unbound().unwrap();
            if sender == Sender::Connected {
                client.connect(&place.0).unwrap();
            }
            let send = async {
                for i in 0..DATAGRAMS {
                    let bytes = i.to_le_bytes();
                    let sent = match sender {
                        Sender::Connected => client.send(&bytes).await,
                        Sender::To => client.send_to(&bytes, &place.0).await,
                        Sender::PollTo => {
                            poll_fn(|cx| client.poll_send_to(cx, &bytes, &place.0)).await
                        }
                    };
                    assert_eq!(sent.unwrap(), 4);
                }
            };
            let receive = async {
                for i in 0..DATAGRAMS {
                    let mut bytes = [0; 4];
                    assert_eq!(server.recv(&mut bytes).await.unwrap(), 4);
                    assert_eq!(u32::from_le_bytes(bytes), i);
                    if i % 500 == 0 {
                        crate::time::sleep(std::time::Duration::from_millis(2)).await;
                    }
                }
            };
            tokio::join!(send, receive);
        }
    });
}

#[test]
fn a_pair_has_no_addresses_and_ends() {
    run(async {
        let (one, other) = UnixDatagram::pair().unwrap();
        assert!(one.local_addr().unwrap().is_unnamed());
        let mut buf = [0; 10];
        assert_eq!(other.try_recv(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        one.try_send(b"x").unwrap();
        assert_eq!(other.recv(&mut buf).await.unwrap(), 1);
        other.shutdown(Shutdown::Both).unwrap();
        assert_eq!(one.send(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        let std = one.into_std().unwrap();
        assert!(UnixDatagram::from_std(std).unwrap().take_error().unwrap().is_none());
    });
}

#[test]
fn errors_name_the_path() {
    run(async {
        let place = Place::new();
        let path = place.0.display();
        let socket = UnixDatagram::unbound().unwrap();
        let polled = named(poll_fn(|cx| socket.poll_send_to(cx, b"x", &place.0))).await;
        assert!(polled.unwrap_err().to_string().contains(&path.to_string()));
        let error = named(socket.send_to(b"x", &place.0)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().starts_with(&format!("cannot send to {path}: ")), "{error}");
        let error = named_call(|| socket.connect(&place.0)).unwrap_err();
        assert!(error.to_string().starts_with(&format!("cannot connect to {path}: ")), "{error}");
        let _bound = UnixDatagram::bind(&place.0).unwrap();
        let error = named_call(|| UnixDatagram::bind(&place.0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        assert!(error.to_string().starts_with(&format!("cannot bind to {path}: ")), "{error}");
    });
}
