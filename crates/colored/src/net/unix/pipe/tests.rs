//! Tests of pipes.

use std::fs::File;
use std::io::{ErrorKind, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{OFlags, fcntl_getfl};

use super::{OpenOptions, Receiver, Sender, pipe};
use crate::io::{AsyncReadExt, AsyncWriteExt, Interest};
use crate::services::testing::run;

/// More than a pipe holds.
const LARGE: usize = 1 << 20;

#[test]
fn bytes_arrive_in_order_and_the_end_behind_them() {
    run(async {
        let (mut sender, mut receiver) = pipe().unwrap();
        let sent = (0..LARGE).map(|n| (n / 251) as u8).collect::<Vec<_>>();
        let send = async {
            sender.write_all(&sent).await.unwrap();
            sender.shutdown().await.unwrap();
            drop(sender);
        };
        let mut got = Vec::new();
        let (n, ()) = tokio::join!(receiver.read_to_end(&mut got), send);
        assert_eq!(n.unwrap(), LARGE);
        assert!(got == sent);
        assert_eq!(receiver.read(&mut [0]).await.unwrap(), 0);
    });
}

/// Several tasks may have one end.
#[test]
fn ends_are_shared_by_reference() {
    run(async {
        let (sender, receiver) = pipe().unwrap();
        let (sender, receiver) = (Arc::new(sender), Arc::new(receiver));
        let (mut one, mut other) = (&*sender, &*sender);
        let mut got = [0; 8];
        let mut reader = &*receiver;
        let (a, b, c) = tokio::join!(
            reader.read_exact(&mut got),
            one.write_all(b"aaaa"),
            other.write_all(b"bbbb")
        );
        a.and(b.map(|()| 0)).and(c.map(|()| 0)).unwrap();
        assert!(&got == b"aaaabbbb" || &got == b"bbbbaaaa", "{got:?}");
    });
}

#[test]
fn trying_does_not_wait_and_readiness_follows() {
    run(async {
        let (sender, receiver) = pipe().unwrap();
        let mut buf = [0; 4];
        assert_eq!(receiver.try_read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(sender.try_write(b"ab").unwrap(), 2);
        receiver.readable().await.unwrap();
        assert_eq!(receiver.try_read(&mut buf).unwrap(), 2);
        assert_eq!(receiver.try_read(&mut buf).unwrap_err().kind(), ErrorKind::WouldBlock);

        let pieces = [IoSlice::new(b"cd"), IoSlice::new(b"efg")];
        assert_eq!(sender.try_write_vectored(&pieces).unwrap(), 5);
        receiver.readable().await.unwrap();
        let (mut head, mut tail) = ([0; 1], [0; 3]);
        let mut parts = [IoSliceMut::new(&mut head), IoSliceMut::new(&mut tail)];
        assert_eq!(receiver.try_read_vectored(&mut parts).unwrap(), 4);
        assert_eq!((&head, &tail), (b"c", b"def"));
        let mut behind = Vec::from(*b"before ");
        assert_eq!(receiver.try_read_buf(&mut behind).unwrap(), 1);
        assert_eq!(behind, b"before g");

        sender.writable().await.unwrap();
        let mut written = 0;
        let full = loop {
            match sender.try_write(&[7; 4096]) {
                Ok(n) => written += n,
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
        let read = async {
            let mut receiver = &receiver;
            receiver.read_exact(&mut vec![0; written]).await.unwrap();
        };
        let (ready, ()) = tokio::join!(sender.ready(Interest::WRITABLE), read);
        assert!(ready.unwrap().is_writable());
    });
}

/// A waiting writer learns that the last receiver has gone.
#[test]
fn a_pipe_without_a_receiver_is_broken() {
    run(async {
        let (mut sender, receiver) = pipe().unwrap();
        let write = async {
            let error = sender.write_all(&vec![0; LARGE]).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        };
        let close = async { drop(receiver) };
        tokio::join!(write, close);
    });
}

#[test]
fn an_operation_of_ones_own_waits_for_the_pipe() {
    run(async {
        let (sender, receiver) = pipe().unwrap();
        let mut buf = [0; 4];
        let read = receiver.async_io(|| Ok(rustix::io::read(&receiver, &mut buf[..])?));
        let write = async { sender.try_io(|| Ok(rustix::io::write(&sender, b"abc")?)).unwrap() };
        let (n, m) = tokio::join!(read, write);
        assert_eq!((n.unwrap(), m), (3, 3));
    });
}

fn blocks(fd: impl AsFd) -> bool {
    !fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

#[test]
fn descriptors_come_and_go_in_the_mode_that_was_asked_for() {
    run(async {
        let (sender, receiver) = pipe().unwrap();
        assert!(!blocks(&sender) && !blocks(&receiver));
        let (sender, receiver) =
            (sender.into_blocking_fd().unwrap(), receiver.into_nonblocking_fd().unwrap());
        assert!(blocks(&sender) && !blocks(&receiver));
        for wrong in [
            Receiver::from_owned_fd(sender.try_clone().unwrap()).unwrap_err(),
            Sender::from_owned_fd(receiver.try_clone().unwrap()).unwrap_err(),
            Sender::from_file(File::options().write(true).open("/dev/null").unwrap()).unwrap_err(),
        ] {
            assert_eq!(wrong.kind(), ErrorKind::InvalidInput);
        }
        let mut sender = Sender::from_owned_fd(sender).unwrap();
        let mut receiver = Receiver::from_owned_fd(receiver).unwrap();
        assert!(!blocks(&sender));
        sender.write_all(b"x").await.unwrap();
        assert_eq!(receiver.read_u8().await.unwrap(), b'x');
    });
}

#[cfg(target_os = "linux")]
fn fifo() -> std::path::PathBuf {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let path = std::env::temp_dir().join(format!(
        "colored-fifo-{}-{}",
        std::process::id(),
        std::thread::current().name().unwrap_or_default().replace("::", "-")
    ));
    let _ = std::fs::remove_file(&path);
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    path
}

#[test]
#[cfg(target_os = "linux")]
fn a_fifo_waits_for_its_senders() {
    run(async {
        let path = fifo();
        let options = OpenOptions::new();
        let alone = options.open_sender(&path).unwrap_err();
        let number = Some(rustix::io::Errno::NXIO.raw_os_error());
        assert_eq!(alone.raw_os_error(), number, "{alone}");
        let alone = crate::io::named_call(|| options.open_sender(&path)).unwrap_err();
        assert_eq!(alone.raw_os_error(), number);
        let start = format!("cannot open the pipe {}: ", path.display());
        assert!(alone.to_string().starts_with(&start), "{alone}");
        let mut receiver = options.open_receiver(&path).unwrap();
        let mut got = Vec::new();
        // The read waits though there is no sender yet.
        let send = async {
            let mut sender = options.open_sender(&path).unwrap();
            sender.write_all(b"one").await.unwrap();
        };
        let (n, ()) = tokio::join!(receiver.read_to_end(&mut got), send);
        assert_eq!((n.unwrap(), &got[..]), (3, &b"one"[..]));
        drop(receiver);
        // With both directions open, no end comes between two senders, and a sender may be first.
        let mut both = OpenOptions::new();
        both.read_write(true);
        let mut first = both.open_sender(&path).unwrap();
        first.write_all(b"two").await.unwrap();
        let mut receiver = both.unchecked(true).open_receiver(&path).unwrap();
        drop(first);
        let mut second = options.open_sender(&path).unwrap();
        second.write_all(b"three").await.unwrap();
        drop(second);
        let mut got = [0; 8];
        receiver.read_exact(&mut got).await.unwrap();
        assert_eq!(&got, b"twothree");
        std::fs::remove_file(path).unwrap();
    });
}

#[test]
fn what_is_no_fifo_is_refused_with_its_path() {
    run(async {
        let path = std::env::temp_dir().join(format!("colored-no-fifo-{}", std::process::id()));
        std::fs::write(&path, "a file").unwrap();
        let error = OpenOptions::new().open_receiver(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let text = format!("cannot open the pipe {}: this file is no pipe", path.display());
        assert!(error.to_string().starts_with(&text), "{error}");
        std::fs::remove_file(&path).unwrap();
        let error = OpenOptions::new().open_sender(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
}

#[test]
#[cfg(feature = "futures-io")]
fn the_futures_traits_move_bytes_too() {
    use std::future::poll_fn;
    use std::pin::Pin;
    run(async {
        let (mut sender, mut receiver) = pipe().unwrap();
        let pieces = [IoSlice::new(b"ab"), IoSlice::new(b"c")];
        let write = poll_fn(|cx| {
            futures_io::AsyncWrite::poll_write_vectored(Pin::new(&mut sender), cx, &pieces)
        });
        assert_eq!(write.await.unwrap(), 3);
        let mut buf = [0; 4];
        let read =
            poll_fn(|cx| futures_io::AsyncRead::poll_read(Pin::new(&mut receiver), cx, &mut buf));
        assert_eq!(read.await.unwrap(), 3);
        assert_eq!(&buf[..3], b"abc");
    });
}

#[test]
fn a_child_writes_to_a_pipe() {
    run(async {
        let (sender, mut receiver) = pipe().unwrap();
        let sender: OwnedFd = sender.into_blocking_fd().unwrap();
        let mut child =
            std::process::Command::new("echo").arg("hello").stdout(sender).spawn().unwrap();
        let mut text = String::new();
        receiver.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, "hello\n");
        assert!(child.wait().unwrap().success());
    });
}
