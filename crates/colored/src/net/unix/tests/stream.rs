//! Moving bytes.

use std::io::{ErrorKind, IoSlice};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream as StdStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use super::{Place, UnixStream, pair};
use crate::io::{AsyncReadExt, AsyncWriteExt, Interest};
use crate::net::testing::{check_answer_after_shutdown, check_echo, run};
use crate::time::{sleep, timeout};

/// More than the buffers of the system hold.
const LARGE: usize = 16 << 20;

#[test]
fn echo() {
    run(async {
        let (client, server) = pair(&Place::new()).await;
        check_echo(client, server).await;
    });
}

/// Each task has the connection, and neither a half of it.
#[test]
fn two_owners_send_and_receive_at_once() {
    run(async {
        let (client, server) = UnixStream::pair().unwrap();
        let data = (0..LARGE).map(|n| (n / 251) as u8).collect::<Vec<_>>();
        let (client, server) = (Arc::new(client), Arc::new(server));
        let send = async {
            (&*client).write_all(&data).await.unwrap();
            (&*client).shutdown().await.unwrap();
        };
        let echo = async {
            let mut buf = vec![0; 1 << 16];
            loop {
                let n = (&*server).read(&mut buf).await.unwrap();
                if n == 0 {
                    break (&*server).shutdown().await.unwrap();
                }
                (&*server).write_all(&buf[..n]).await.unwrap();
            }
        };
        let receive = async {
            let mut got = Vec::new();
            (&*client).read_to_end(&mut got).await.unwrap();
            got
        };
        let ((), (), got) = tokio::join!(send, echo, receive);
        assert!(got == data);
    });
}

/// A read ends behind the bytes that came with a descriptor, though more is there. Both have come before
/// the first read, so no further event tells of it.
#[test]
fn a_short_read_is_not_all_there_is() {
    run(async {
        let (client, mut server) = UnixStream::pair().unwrap();
        let file = std::fs::File::open("/dev/null").unwrap();
        let send = |bytes: &[u8], with: bool| {
            let fds = [file.as_fd()];
            let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            assert!(!with || ancillary.push(SendAncillaryMessage::ScmRights(&fds)));
            let bufs = [IoSlice::new(bytes)];
            sendmsg(&client, &bufs, &mut ancillary, SendFlags::empty()).unwrap();
        };
        let mut buf = [0; 64];
        // The reader has waited once: from here on the system's answer counts.
        assert_eq!(server.try_read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        send(b"first", true);
        send(b"second", false);
        // The reactor has seen both.
        std::thread::sleep(Duration::from_millis(20));
        let mut got = Vec::new();
        while got.len() < 11 {
            let read = timeout(Duration::from_secs(5), server.read(&mut buf)).await;
            let n = read.expect("what is there is read").unwrap();
            got.extend_from_slice(&buf[..n]);
        }
        assert_eq!(got, b"firstsecond");
    });
}

#[test]
fn a_half_closed_connection_still_answers() {
    run(async {
        let (client, server) = pair(&Place::new()).await;
        check_answer_after_shutdown(client, server).await;
    });
}

#[test]
fn ending_the_reading_direction_wakes_the_reader() {
    run(async {
        let (client, server) = UnixStream::pair().unwrap();
        let mut buf = [0];
        let mut reader = &server;
        let end = async { server.shutdown_with(Shutdown::Read).unwrap() };
        let (read, ()) = tokio::join!(reader.read(&mut buf), end);
        assert_eq!(read.unwrap(), 0);
        drop(client);
    });
}

#[test]
fn ending_the_writing_direction_wakes_the_writer() {
    for how in [Shutdown::Write, Shutdown::Both] {
        run(async {
            let (client, server) = UnixStream::pair().unwrap();
            let data = vec![0; LARGE];
            let mut writer = &server;
            let end = async {
                // The buffer is full.
                sleep(Duration::from_millis(20)).await;
                server.shutdown_with(how).unwrap();
            };
            let both = async { tokio::join!(writer.write_all(&data), end) };
            let (written, ()) = timeout(Duration::from_secs(10), both).await.expect("it is woken");
            assert_eq!(written.unwrap_err().kind(), ErrorKind::BrokenPipe);
            drop(client);
        });
    }
}

#[test]
fn peeking_takes_nothing() {
    run(async {
        let (client, server) = UnixStream::pair().unwrap();
        client.try_write_vectored(&[IoSlice::new(b"ab"), IoSlice::new(b"cd")]).unwrap();
        let mut buf = [0; 8];
        assert_eq!(server.peek(&mut buf).await.unwrap(), 4);
        assert!(server.ready(Interest::READABLE).await.unwrap().is_readable());
        assert_eq!(server.try_read(&mut buf).unwrap(), 4);
        assert_eq!(&buf[..4], b"abcd");
        assert_eq!(server.try_read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn a_connection_goes_to_the_standard_library_and_back() {
    run(async {
        let (one, other) = StdStream::pair().unwrap();
        let (one, mut other) =
            (UnixStream::try_from(one).unwrap(), UnixStream::try_from(other).unwrap());
        let mut one = UnixStream::from_std(one.into_std().unwrap()).unwrap();
        one.write_all(b"there").await.unwrap();
        drop(one);
        let mut got = String::new();
        other.read_to_string(&mut got).await.unwrap();
        assert_eq!(got, "there");
        assert!(other.take_error().unwrap().is_none());
    });
}
