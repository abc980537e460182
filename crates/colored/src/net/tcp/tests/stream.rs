//! Moving bytes.

use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use socket2::SockRef;

use crate::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, Interest, ReadBuf, Ready};
use crate::net::TcpStream;
use crate::net::testing::{check_answer_after_shutdown, check_echo, listen, pair, run};

/// More than the buffers of the system hold.
const LARGE: usize = 16 << 20;

#[test]
fn echo() {
    run(async {
        let (client, server) = pair().await;
        check_echo(client, server).await;
    });
}

#[test]
fn a_large_transfer_blocks_and_goes_on() {
    run(async {
        let (mut client, mut server) = pair().await;
        let data = (0..LARGE).map(|n| (n / 251) as u8).collect::<Vec<_>>();
        let send = async {
            client.write_all(&data).await.unwrap();
            client.shutdown().await.unwrap();
        };
        let mut got = Vec::new();
        let (_, read) = tokio::join!(send, server.read_to_end(&mut got));
        assert_eq!(read.unwrap(), LARGE);
        assert!(got == data);
    });
}

#[test]
fn a_short_read_does_not_lose_the_next_bytes() {
    run(async {
        let (mut client, mut server) = pair().await;
        let mut buf = [0; 64];
        for n in 0..1000_u32 {
            client.write_all(&n.to_be_bytes()).await.unwrap();
            assert_eq!(server.read(&mut buf).await.unwrap(), 4);
            assert_eq!(buf[..4], n.to_be_bytes());
        }
        // The data and the end may come in one event, of which a short read takes only the data.
        client.write_all(b"last").await.unwrap();
        drop(client);
        let mut rest = Vec::new();
        server.read_to_end(&mut rest).await.unwrap();
        assert_eq!(rest, b"last");
    });
}

#[test]
#[cfg(target_os = "linux")]
fn urgent_data_does_not_stop_the_stream() {
    run(async {
        let (mut client, mut server) = pair().await;
        client.write_all(b"before").await.unwrap();
        SockRef::from(&client).send_out_of_band(b"!").unwrap();
        client.write_all(b"after").await.unwrap();
        // A read stops at the mark of the urgent byte, though the rest is there already.
        std::thread::sleep(Duration::from_millis(20));
        let mut got = Vec::new();
        while got.len() < 11 {
            let mut buf = [0; 64];
            let n = server.read(&mut buf).await.unwrap();
            got.extend_from_slice(&buf[..n]);
        }
        assert_eq!(got, b"beforeafter");
    });
}

#[test]
fn a_half_closed_connection_still_answers() {
    run(async {
        let (client, server) = pair().await;
        check_answer_after_shutdown(client, server).await;
    });
}

#[test]
fn ending_the_reading_direction_wakes_the_reader() {
    run(async {
        let (client, server) = pair().await;
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
    run(async {
        let (client, server) = pair().await;
        while client.try_write(&[0; 100_000]).is_ok() {}
        let mut writer = &client;
        let end = async { client.shutdown_with(Shutdown::Write).unwrap() };
        let (written, ()) = tokio::join!(writer.write(b"x"), end);
        written.unwrap_err();
        drop(server);
    });
}

/// The system moves only the first thousand, and nothing tells of the room that is left.
#[test]
fn more_pieces_than_the_system_moves_at_once_are_no_full_buffer() {
    run(async {
        let (client, server) = pair().await;
        let pieces = [IoSlice::new(b"ab"); 2_000];
        for _ in 0..2 {
            let n = client.try_write_vectored(&pieces).unwrap();
            assert!(0 < n && n <= 4_000, "{n}");
        }
        server.readable().await.unwrap();
        let mut bytes = [[0]; 2_000];
        let mut bufs: Vec<_> = bytes.iter_mut().map(|byte| IoSliceMut::new(byte)).collect();
        for _ in 0..2 {
            let n = server.try_read_vectored(&mut bufs).unwrap();
            assert!(0 < n && n <= 2_000, "{n}");
        }
    });
}

#[test]
fn peeking_takes_nothing() {
    run(async {
        let (mut client, mut server) = pair().await;
        client.write_all(b"abc").await.unwrap();
        let mut buf = [0; 8];
        assert_eq!(server.peek(&mut buf).await.unwrap(), 3);
        let mut memory = [const { MaybeUninit::uninit() }; 8];
        let mut peeked = ReadBuf::uninit(&mut memory);
        assert_eq!(poll_fn(|cx| server.poll_peek(cx, &mut peeked)).await.unwrap(), 3);
        assert_eq!(peeked.filled(), b"abc");
        assert_eq!(server.read(&mut buf).await.unwrap(), 3);
        assert_eq!(&buf[..3], b"abc");
    });
}

#[test]
fn reading_appends_to_uninitialized_memory() {
    run(async {
        let (mut client, mut server) = pair().await;
        let mut got = Vec::with_capacity(16);
        for part in [&b"one"[..], b"two", b"three"] {
            client.write_all(part).await.unwrap();
            server.read_buf(&mut got).await.unwrap();
        }
        assert_eq!(got, b"onetwothree");
    });
}

#[test]
fn an_empty_read_does_not_wait() {
    run(async {
        let (_client, mut server) = pair().await;
        assert_eq!(server.read(&mut []).await.unwrap(), 0);
        assert_eq!(server.write(&[]).await.unwrap(), 0);
    });
}

#[test]
fn vectored_transfers() {
    run(async {
        let (mut client, server) = pair().await;
        assert!(client.is_write_vectored());
        let parts = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")];
        let written = poll_fn(|cx| Pin::new(&mut client).poll_write_vectored(cx, &parts)).await;
        assert_eq!(written.unwrap(), 5);
        server.peek(&mut [0; 5]).await.unwrap();
        let (mut one, mut two) = ([0; 3], [0; 4]);
        let mut bufs = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)];
        assert_eq!(server.try_read_vectored(&mut bufs).unwrap(), 5);
        assert_eq!((&one, &two[..2]), (b"abc", &b"de"[..]));
        assert_eq!(server.try_write_vectored(&parts).unwrap(), 5);
    });
}

/// Short pieces are put together first, long ones are listed: on both sides of the limit of 1,024
/// bytes the peer reads the same.
#[test]
fn pieces_arrive_whole_and_in_order() {
    run(async {
        let (client, mut server) = pair().await;
        let bytes: Vec<u8> = (0..6000).map(|n| (n % 251) as u8).collect();
        for lens in [[1, 1], [1000, 24], [1000, 25], [1024, 0], [0, 1025], [5000, 3]] {
            let whole = &bytes[..lens[0] + lens[1]];
            let (one, two) = whole.split_at(lens[0]);
            let parts = [IoSlice::new(one), IoSlice::new(two)];
            assert_eq!(client.try_write_vectored(&parts).unwrap(), whole.len());
            let mut arrived = vec![0; whole.len()];
            server.read_exact(&mut arrived).await.unwrap();
            assert_eq!(arrived, whole, "{lens:?}");
        }
    });
}

#[test]
fn trying_says_would_block_and_readiness_follows() {
    run(async {
        let (mut client, server) = pair().await;
        let mut buf = [0; 8];
        let would_block = |error: std::io::Error| error.kind() == ErrorKind::WouldBlock;
        assert!(server.try_read(&mut buf).is_err_and(would_block));
        let write = async { client.write_all(b"x").await.unwrap() };
        let (ready, ()) = tokio::join!(server.ready(Interest::READABLE), write);
        assert_eq!(ready.unwrap(), Ready::READABLE);
        assert_eq!(server.try_read(&mut buf).unwrap(), 1);
        while server.try_write(&[0; 65536]).is_ok() {}
        assert!(server.try_write(&[0]).is_err_and(would_block));
        // How much must be read before there is room again is the business of the system.
        let drain = async {
            let mut all = vec![0; 65536];
            while client.read(&mut all).await.unwrap() > 0 {}
        };
        tokio::select! {
            writable = server.writable() => writable.unwrap(),
            () = drain => panic!("the stream ended"),
        }
        drop(client);
        poll_fn(|cx| server.poll_read_ready(cx)).await.unwrap();
    });
}

/// A fresh socket counts as ready for an operation, which finds out; a task that waits for readiness waits for an event.
#[test]
fn a_fresh_stream_is_readable_when_something_has_come_and_not_before() {
    run(async {
        let (mut client, server) = pair().await;
        let mut readable = pin!(server.readable());
        let is_ready = poll_fn(|cx| Poll::Ready(readable.as_mut().poll(cx).is_ready())).await;
        assert!(!is_ready, "nothing has come");
        let is_ready = poll_fn(|cx| Poll::Ready(server.poll_read_ready(cx).is_ready())).await;
        assert!(!is_ready, "nothing has come");
        client.write_all(b"x").await.unwrap();
        readable.await.unwrap();
        assert_eq!(server.try_read(&mut [0; 8]).unwrap(), 1);

        // What came before the socket was watched is told as well.
        let (listener, addr) = listen().await;
        let mut client = TcpStream::connect(addr).await.unwrap();
        client.write_all(b"y").await.unwrap();
        let (server, _) = listener.accept().await.unwrap();
        server.readable().await.unwrap();
        assert_eq!(server.try_read(&mut [0; 8]).unwrap(), 1);
    });
}

#[test]
fn one_reader_and_one_writer_share_a_reference() {
    run(async {
        let (client, server) = pair().await;
        let (mut reader, mut writer) = (&client, &client);
        let mut got = vec![0; LARGE];
        let data = vec![1; LARGE];
        let echo = async {
            let (mut reader, mut writer) = (&server, &server);
            let mut buf = vec![0; 65536];
            let mut left = LARGE;
            while left > 0 {
                let n = reader.read(&mut buf).await.unwrap();
                writer.write_all(&buf[..n]).await.unwrap();
                left -= n;
            }
        };
        let (write, read, ()) =
            tokio::join!(writer.write_all(&data), reader.read_exact(&mut got), echo);
        write.unwrap();
        read.unwrap();
        assert!(got == data);
    });
}

#[test]
fn a_reset_is_an_error_and_the_drop_after_it_is_not() {
    run(async {
        let (client, mut server) = pair().await;
        client.set_linger(Some(Duration::ZERO)).unwrap();
        drop(client);
        let error = server.read(&mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        server.shutdown().await.unwrap();
    });
}

#[test]
fn an_operation_of_ones_own_is_run_when_the_connection_is_ready() {
    run(async {
        let (mut client, server) = pair().await;
        let socket = SockRef::from(&server);
        let mut calls = 0;
        let mut read = || {
            calls += 1;
            let mut buf = [MaybeUninit::uninit(); 8];
            socket.recv(&mut buf)
        };
        // A new socket counts as ready until it has been asked.
        let nothing = server.try_io(Interest::READABLE, &mut read).unwrap_err();
        assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
        let nothing = server.try_io(Interest::READABLE, &mut read).unwrap_err();
        assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
        let send = async { client.write_all(b"abc").await.unwrap() };
        let (got, ()) = tokio::join!(server.async_io(Interest::READABLE, &mut read), send);
        assert_eq!(got.unwrap(), 3);
        // One more if an event came between the answer and its note.
        assert!(calls <= 3, "not when it was known not to be ready");
    });
}

#[test]
fn a_stream_goes_to_std_and_back() {
    run(async {
        let (client, mut server) = pair().await;
        let std: std::net::TcpStream = client.try_into().unwrap();
        let mut client = TcpStream::try_from(std).unwrap();
        client.write_all(b"x").await.unwrap();
        assert_eq!(server.read(&mut [0; 2]).await.unwrap(), 1);
    });
}
