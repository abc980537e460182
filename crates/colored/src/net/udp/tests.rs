//! Tests of UDP sockets.

use super::*;
use crate::io::named;
use crate::services::testing::run;
use std::future::poll_fn;
use std::pin::pin;

async fn pair() -> (UdpSocket, UdpSocket) {
    let one = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let other = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    one.connect(other.local_addr().unwrap()).await.unwrap();
    other.connect(one.local_addr().unwrap()).await.unwrap();
    (one, other)
}

#[test]
fn datagrams_keep_their_bounds_and_name_their_sender() {
    run(async {
        let server = UdpSocket::bind(("127.0.0.1", 0)).await.unwrap();
        let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let to = server.local_addr().unwrap();
        let mut buf = [0; 100];
        for len in [0, 1, 99, 100] {
            assert_eq!(client.send_to(&vec![7; len], to).await.unwrap(), len);
            assert_eq!(server.peek_from(&mut buf).await.unwrap().0, len);
            let (got, from) = server.recv_from(&mut buf).await.unwrap();
            assert_eq!((got, from), (len, client.local_addr().unwrap()));
            assert_eq!(server.send_to(&buf[..got], from).await.unwrap(), len);
            assert_eq!(client.recv(&mut buf).await.unwrap(), len);
        }
        // What does not fit is lost, and the next one is whole.
        client.send_to(&[7; 150], to).await.unwrap();
        client.send_to(&[8; 3], to.to_string()).await.unwrap();
        let cut = server.recv(&mut buf).await;
        if cfg!(windows) {
            assert_eq!(cut.unwrap_err().raw_os_error(), Some(10040), "as with std");
        } else {
            assert_eq!(cut.unwrap(), 100);
        }
        assert_eq!(server.recv(&mut buf).await.unwrap(), 3);
    });
}

#[test]
fn a_receiver_waits_and_a_dropped_one_takes_nothing() {
    run(async {
        let (one, other) = pair().await;
        let mut buf = [0; 10];
        {
            let mut dropped = pin!(other.recv(&mut buf));
            poll_fn(|cx| {
                assert!(dropped.as_mut().poll(cx).is_pending());
                Poll::Ready(())
            })
            .await;
        }
        assert_eq!(other.try_recv(&mut buf).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let (received, sent) = tokio::join!(other.recv(&mut buf), one.send(b"hello"));
        assert_eq!((received.unwrap(), sent.unwrap()), (5, 5));
        one.try_send(b"again").unwrap();
        other.readable().await.unwrap();
        let mut buf = [0; 10];
        let mut buf = ReadBuf::new(&mut buf);
        poll_fn(|cx| other.poll_recv(cx, &mut buf)).await.unwrap();
        assert_eq!(buf.filled(), b"again");
        assert_eq!(one.peer_addr().unwrap(), other.local_addr().unwrap());
    });
}

#[test]
fn a_datagram_that_was_looked_at_stays_in_the_queue() {
    run(async {
        let (one, other) = pair().await;
        let from = one.local_addr().unwrap();
        let mut buf = [0; 10];
        let would_block = |error: io::Error| assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        would_block(other.try_peek(&mut buf).unwrap_err());
        would_block(other.try_peek_from(&mut buf).unwrap_err());
        would_block(other.try_peek_sender().unwrap_err());
        // One task per direction is woken by the `poll_*` methods, and any number by the others.
        let (polled, waited, sent) = tokio::join!(
            poll_fn(|cx| other.poll_peek_sender(cx)),
            other.peek_sender(),
            one.send(b"hello")
        );
        assert_eq!((polled.unwrap(), waited.unwrap(), sent.unwrap()), (from, from, 5));
        assert_eq!(other.try_peek(&mut buf).unwrap(), 5);
        assert_eq!(other.try_peek_from(&mut buf).unwrap(), (5, from));
        assert_eq!(other.try_peek_sender().unwrap(), from);
        assert_eq!(&buf[..5], b"hello");
        let mut again = [0; 10];
        let mut again = ReadBuf::new(&mut again);
        poll_fn(|cx| other.poll_peek(cx, &mut again)).await.unwrap();
        assert_eq!(poll_fn(|cx| other.poll_peek_from(cx, &mut again)).await.unwrap(), from);
        assert_eq!(again.filled(), b"hellohello");
        assert_eq!(other.try_recv(&mut buf).unwrap(), 5);
        would_block(other.try_peek_sender().unwrap_err());
    });
}

/// Two tasks that receive from one socket are both woken, and each datagram goes to one of them.
#[test]
fn two_tasks_receive_from_one_socket() {
    run(async {
        let (one, other) = pair().await;
        let (mut a, mut b) = ([0; 10], [0; 10]);
        let sends = async {
            one.send(b"a").await.unwrap();
            one.send(b"bb").await.unwrap();
        };
        let (first, second, ()) = tokio::join!(other.recv(&mut a), other.recv(&mut b), sends);
        let mut lengths = [first.unwrap(), second.unwrap()];
        lengths.sort_unstable();
        assert_eq!(lengths, [1, 2]);
    });
}

#[test]
fn options_are_those_of_the_system() {
    run(async {
        let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        assert!(!socket.broadcast().unwrap());
        socket.set_broadcast(true).unwrap();
        assert!(socket.broadcast().unwrap());
        socket.set_ttl(42).unwrap();
        assert_eq!(socket.ttl().unwrap(), 42);
        socket.set_multicast_ttl_v4(7).unwrap();
        assert_eq!(socket.multicast_ttl_v4().unwrap(), 7);
        assert!(socket.multicast_loop_v4().unwrap());
        let port = socket.local_addr().unwrap().port();
        let std = socket.into_std().unwrap();
        let again = UdpSocket::from_std(std).unwrap();
        assert_eq!(again.local_addr().unwrap().port(), port);
        assert!(again.take_error().unwrap().is_none());
    });
}

#[test]
fn a_group_gets_what_is_sent_to_it() {
    run(async {
        let group = Ipv4Addr::new(239, 255, 7, 42);
        let member = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        let port = member.local_addr().unwrap().port();
        // A machine without a network has no route for groups.
        if let Err(error) = member.join_multicast_v4(group, Ipv4Addr::LOCALHOST) {
            println!("skipped: {error}");
            return;
        }
        let sender = net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let system = socket2::SockRef::from(&sender);
        system.set_multicast_if_v4(&Ipv4Addr::LOCALHOST).unwrap();
        let sender = UdpSocket::from_std(sender).unwrap();
        sender.send_to(b"to all", (group, port)).await.unwrap();
        let mut buf = [0; 10];
        assert_eq!(member.recv(&mut buf).await.unwrap(), 6);
        member.leave_multicast_v4(group, Ipv4Addr::LOCALHOST).unwrap();
    });
}

#[test]
fn errors_name_the_address() {
    run(async {
        let taken = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let addr = taken.local_addr().unwrap();
        let error = named(UdpSocket::bind(addr)).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        let of_std = net::UdpSocket::bind(addr).unwrap_err();
        assert_eq!(error.raw_os_error(), of_std.raw_os_error());
        assert!(error.to_string().starts_with(&format!("cannot bind to {addr}: ")), "{error}");
        let datagram = vec![0; 100_000];
        let error = named(taken.send_to(&datagram, addr)).await.unwrap_err();
        let text = format!("cannot send 100000 bytes to {addr}: ");
        assert!(error.to_string().starts_with(&text), "{error}");
        let none: [SocketAddr; 0] = [];
        let error = taken.send_to(b"", none).await.unwrap_err();
        assert!(error.to_string().contains("at least one is needed"), "{error}");
        assert_eq!(taken.peer_addr().unwrap_err().kind(), io::ErrorKind::NotConnected);
    });
}

/// Each datagram goes behind what the buffer has; one for which there is no room is not lost.
#[test]
fn datagrams_are_appended_to_buffers() {
    run(async {
        let (one, other) = pair().await;
        let mut buf = Vec::with_capacity(64);
        buf.push(b'_');
        assert_eq!(other.try_recv_buf(&mut buf).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        for text in ["a", "bc", "", "def", "g"] {
            one.send(text.as_bytes()).await.unwrap();
        }
        assert_eq!(other.recv_buf(&mut buf).await.unwrap(), 1);
        let from = one.local_addr().unwrap();
        assert_eq!(other.recv_buf_from(&mut buf).await.unwrap(), (2, from));
        assert_eq!(other.try_recv_buf(&mut buf).unwrap(), 0);
        let mut none: &mut [u8] = &mut [];
        let refused = other.try_recv_buf(&mut none).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        assert_eq!(other.try_recv_buf_from(&mut buf).unwrap(), (3, from));
        assert_eq!(other.try_recv_buf(&mut buf).unwrap(), 1);
        assert_eq!(buf, b"_abcdefg");
    });
}

/// Many datagrams go with one system call, by the crate that the documentation of `UdpSocket` names: whole, in order, and
/// with few calls on Linux, which joins and splits them.
#[test]
fn datagrams_move_in_bulk() {
    use crate::io::Interest;
    use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
    use std::io::IoSliceMut;
    const LENGTH: usize = 700;
    const ROUNDS: usize = 20;
    run(async {
        let (from, to) = pair().await;
        let sender = UdpSocketState::new(UdpSockRef::from(&from)).unwrap();
        let receiver = UdpSocketState::new(UdpSockRef::from(&to)).unwrap();
        let each = sender.max_gso_segments().min(32);
        let (mut calls, mut got) = (0, Vec::new());
        let mut bufs = vec![vec![0; 1 << 16]; BATCH_SIZE];
        let mut metas = vec![RecvMeta::default(); BATCH_SIZE];
        for round in 0..ROUNDS {
            let number = |n: usize| u8::try_from((round * each + n) % 251).unwrap();
            let contents: Vec<_> = (0..each).flat_map(|n| [number(n); LENGTH]).collect();
            let transmit = Transmit {
                destination: to.local_addr().unwrap(),
                ecn: None,
                contents: &contents,
                segment_size: Some(LENGTH),
                src_ip: None,
            };
            let send = || sender.try_send(UdpSockRef::from(&from), &transmit);
            from.async_io(Interest::WRITABLE, send).await.unwrap();
            // As many as were sent, so that the queue of the system loses none.
            while got.len() < (round + 1) * each {
                let receive = || {
                    let mut bufs: Vec<_> =
                        bufs.iter_mut().map(|buf| IoSliceMut::new(buf)).collect();
                    receiver.recv(UdpSockRef::from(&to), &mut bufs, &mut metas)
                };
                let n = to.async_io(Interest::READABLE, receive).await.unwrap();
                calls += 1;
                for (meta, buf) in metas[..n].iter().zip(&bufs) {
                    for datagram in buf[..meta.len].chunks(meta.stride) {
                        assert_eq!(datagram, [datagram[0]; LENGTH]);
                        got.push(datagram[0]);
                    }
                }
            }
        }
        let expected = (0..ROUNDS * each).map(|n| u8::try_from(n % 251).unwrap());
        assert!(got.iter().copied().eq(expected));
        assert!(each == 1 || calls < ROUNDS * each, "{calls} calls for {} datagrams", got.len());
    });
}
