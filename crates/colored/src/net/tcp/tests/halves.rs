//! The two directions, each by itself.

use std::io::{ErrorKind, IoSlice, IoSliceMut};

use crate::io::{AsyncReadExt, AsyncWriteExt, Interest};
use crate::net::testing::{pair, run};

#[test]
fn halves_are_borrowed_or_owned() {
    run(async {
        let (mut client, mut server) = pair().await;
        {
            let (mut read, mut write) = client.split();
            let (mut peer_read, mut peer_write) = server.split();
            let (mut a, mut b) = ([0; 2], [0; 2]);
            let sent = async { tokio::join!(write.write_all(b"ab"), peer_write.write_all(b"cd")) };
            let got = async { tokio::join!(read.read_exact(&mut a), peer_read.read_exact(&mut b)) };
            let ((sent, peer_sent), (got, peer_got)) = tokio::join!(sent, got);
            sent.and(peer_sent).unwrap();
            got.and(peer_got).unwrap();
            assert_eq!((&a, &b), (b"cd", b"ab"));
            assert!(read.as_ref().peer_addr().is_ok());
        }
        let (read, mut write) = client.into_split();
        let (mut peer_read, peer_write) = server.into_split();
        write.write_all(b"end").await.unwrap();
        drop(write);
        let mut got = Vec::new();
        peer_read.read_to_end(&mut got).await.unwrap();
        assert_eq!(got, b"end");
        drop((read, peer_write));
    });
}

#[test]
fn halves_have_the_methods_of_their_direction() {
    run(async {
        let (mut client, mut server) = pair().await;
        let (addr, peer) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
        let mut buf = [0; 4];
        {
            let (read, write) = client.split();
            let (peer_read, peer_write) = server.split();
            assert_eq!((read.local_addr().unwrap(), read.peer_addr().unwrap()), (addr, peer));
            assert_eq!((write.local_addr().unwrap(), write.peer_addr().unwrap()), (addr, peer));
            write.writable().await.unwrap();
            assert_eq!(write.try_write(b"ab").unwrap(), 2);
            assert_eq!(peer_write.try_write_vectored(&[IoSlice::new(b"c")]).unwrap(), 1);
            assert_eq!(peer_read.peek(&mut buf).await.unwrap(), 2);
            peer_read.readable().await.unwrap();
            assert_eq!(peer_read.try_read(&mut buf).unwrap(), 2);
            assert!(read.ready(Interest::READABLE).await.unwrap().is_readable());
            let mut bufs = [IoSliceMut::new(&mut buf)];
            assert_eq!(read.try_read_vectored(&mut bufs).unwrap(), 1);
            assert_eq!(&buf, b"cb\0\0");
        }
        let (read, write) = client.into_split();
        let (peer_read, peer_write) = server.into_split();
        assert_eq!((read.local_addr().unwrap(), read.peer_addr().unwrap()), (addr, peer));
        assert_eq!((write.local_addr().unwrap(), write.peer_addr().unwrap()), (addr, peer));
        write.writable().await.unwrap();
        assert_eq!(write.try_write(b"de").unwrap(), 2);
        assert!(peer_write.ready(Interest::WRITABLE).await.unwrap().is_writable());
        assert_eq!(peer_read.peek(&mut buf).await.unwrap(), 2);
        peer_read.readable().await.unwrap();
        assert_eq!(peer_read.try_read(&mut buf).unwrap(), 2);
        assert_eq!(&buf[..2], b"de");
        let nothing = read.try_read(&mut buf).unwrap_err();
        assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn only_halves_of_one_connection_are_reunited() {
    run(async {
        let (client, server) = pair().await;
        let (read, write) = client.into_split();
        let (peer_read, peer_write) = server.into_split();
        let error = read.reunite(peer_write).unwrap_err();
        assert!(error.to_string().contains("different connections"));
        let mut client = write.reunite(error.0).unwrap();
        let mut server = peer_read.reunite(error.1).unwrap();
        client.write_all(b"x").await.unwrap();
        assert_eq!(server.read(&mut [0; 2]).await.unwrap(), 1);
    });
}

#[test]
fn a_forgotten_half_does_not_end_the_direction() {
    run(async {
        let (client, mut server) = pair().await;
        let (read, write) = client.into_split();
        write.forget();
        read.as_ref().try_write(b"x").unwrap();
        assert_eq!(server.read(&mut [0; 2]).await.unwrap(), 1);
        drop(read);
        assert_eq!(server.read(&mut [0; 2]).await.unwrap(), 0);
    });
}
