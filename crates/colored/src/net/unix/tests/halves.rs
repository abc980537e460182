//! The two directions, each by itself. The tests of TCP have the rest: the code is the same.

use super::{Place, UnixStream, pair};
use crate::io::{AsyncReadExt, AsyncWriteExt, Interest};
use crate::net::testing::run;

#[test]
fn halves_are_borrowed_or_owned() {
    run(async {
        let (mut client, server) = UnixStream::pair().unwrap();
        let (mut peer_read, mut peer_write) = server.into_split();
        let (mut read, mut write) = client.split();
        // More than the buffers of the system hold.
        let sent = vec![7; 4 << 20];
        let send = async {
            write.write_all(&sent).await.unwrap();
            write.shutdown().await.unwrap();
        };
        let echo = async {
            crate::io::copy(&mut peer_read, &mut peer_write).await.unwrap();
            drop(peer_write);
        };
        let mut got = Vec::new();
        let ((), (), end) = tokio::join!(send, echo, read.read_to_end(&mut got));
        end.unwrap();
        assert!(got == sent);
    });
}

#[test]
fn halves_have_the_addresses_and_the_methods_of_their_direction() {
    run(async {
        let place = Place::new();
        let (client, server) = pair(&place).await;
        let (read, write) = client.into_split();
        assert_eq!(read.peer_addr().unwrap().as_pathname(), Some(&*place.0));
        assert!(write.local_addr().unwrap().is_unnamed());
        assert!(write.ready(Interest::WRITABLE).await.unwrap().is_writable());
        assert_eq!(write.try_write(b"ab").unwrap(), 2);
        let (peer_read, _peer_write) = server.into_split();
        let mut buf = [0; 4];
        assert_eq!(peer_read.peek(&mut buf).await.unwrap(), 2);
        assert_eq!(peer_read.try_read(&mut buf).unwrap(), 2);
        assert_eq!(&buf, b"ab\0\0");
    });
}

#[test]
fn a_dropped_half_ends_its_direction_and_a_whole_does_not_end() {
    run(async {
        let (client, mut server) = UnixStream::pair().unwrap();
        let (other, _peer) = UnixStream::pair().unwrap();
        let (read, write) = client.into_split();
        let (_other_read, other_write) = other.into_split();
        let error = read.reunite(other_write).unwrap_err();
        let mut client = error.0.reunite(write).unwrap();
        client.write_all(b"x").await.unwrap();
        assert_eq!(server.read(&mut [0; 2]).await.unwrap(), 1);
        let (mut read, write) = client.into_split();
        drop(write);
        assert_eq!(server.read(&mut [0; 2]).await.unwrap(), 0);
        // The other direction goes on.
        server.write_all(b"y").await.unwrap();
        assert_eq!(read.read(&mut [0; 2]).await.unwrap(), 1);
    });
}
