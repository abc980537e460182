//! TCP between hosts.

use super::{passes_with, silent};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{ConnectOptions, TcpListener, TcpSocket, TcpStream, lookup_host};
use colored::sim::{self, Builder, Fault, Faults};
use colored::spawn;
use colored::time::{Duration, sleep, timeout};
use colored_tests::join_all;
use std::io::ErrorKind;

const SECOND: Duration = Duration::from_secs(1);

/// Sends everything back, and ends when the client has ended.
async fn echo() {
    let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
    loop {
        let (stream, peer) = listener.accept().await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), peer);
        spawn(async move {
            let (mut read, mut write) = stream.into_split();
            let mut buf = [0; 1000];
            loop {
                match read.read(&mut buf).await {
                    Ok(0) | Err(_) => break,
                    Ok(len) => {
                        if write.write_all(&buf[..len]).await.is_err() {
                            break;
                        }
                    }
                }
            }
        });
    }
}

/// The bytes of a stream, by their places.
fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

async fn echoed(len: usize) {
    let stream = TcpStream::connect("a:7").await.unwrap();
    let (mut read, mut write) = stream.into_split();
    let writer = spawn(async move {
        write.write_all(&bytes(len)).await.unwrap();
        // The end of this direction.
        drop(write);
    });
    let mut echoed = Vec::new();
    read.read_to_end(&mut echoed).await.unwrap();
    writer.await.unwrap();
    assert_eq!(echoed.len(), len);
    assert_eq!(echoed, bytes(len));
}

#[test]
fn an_echo_comes_back_whole_with_half_close_and_back_pressure() {
    passes_with(Builder::new().seeds(silent(60)).host("a", echo), || echoed(200_000));
}

#[test]
fn pieces_and_delays_change_no_byte() {
    let faults = Faults::none().with(Fault::Pieces).with(Fault::Delay);
    passes_with(Builder::new().seeds(silent(150)).faults(faults).host("a", echo), || async {
        join_all([1, 100, 3000].map(|len| spawn(echoed(len)))).await;
    });
}

#[test]
fn a_writer_waits_until_the_reader_makes_room() {
    let program = || async {
        let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        sleep(60 * SECOND).await;
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        assert_eq!(all, bytes(300_000));
        stream.write_all(b"thanks").await.unwrap();
    };
    passes_with(Builder::new().seeds(silent(50)).host("a", program), || async {
        let mut stream = TcpStream::connect("a:7").await.unwrap();
        let data = bytes(300_000);
        assert!(timeout(59 * SECOND, stream.write_all(&data[..100_000])).await.is_err());
        assert_eq!(stream.try_write(b"no room").unwrap_err().kind(), ErrorKind::WouldBlock);
        // 64 KiB have been taken.
        stream.write_all(&data[1 << 16..]).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "thanks");
    });
}

#[test]
fn addresses_ports_and_names() {
    passes_with(Builder::new().seeds(0..20).host("a", echo), || async {
        let addrs: Vec<_> = lookup_host("a:7").await.unwrap().collect();
        assert_eq!(addrs, ["10.0.0.2:7".parse().unwrap()]);
        let error = TcpStream::connect("b:7").await.unwrap_err();
        assert!(error.to_string().contains("the hosts of this simulation are main, a"), "{error}");
        let error = TcpStream::connect("10.1.2.3:7").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::HostUnreachable);
        assert_eq!(
            TcpStream::connect("a:8").await.unwrap_err().kind(),
            ErrorKind::ConnectionRefused
        );
        let one = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let two = TcpListener::bind("[::1]:0").await.unwrap();
        let (one, two) = (one.local_addr().unwrap(), two.local_addr().unwrap());
        assert!(one.port() != 0 && one.port() != two.port());
        let _taken = TcpListener::bind("127.0.0.1:80").await.unwrap();
        let error = TcpListener::bind("0.0.0.0:80").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        let error = TcpListener::bind("a:81").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrNotAvailable);
        let stream = TcpStream::connect("a:7").await.unwrap();
        assert_eq!(stream.local_addr().unwrap().ip().to_string(), "10.0.0.1");
        assert_eq!(stream.peer_addr().unwrap().to_string(), "10.0.0.2:7");
    });
}

#[test]
fn options_are_taken_and_kept() {
    passes_with(Builder::new().seeds(0..20).host("a", echo), || async {
        let stream = TcpStream::connect("a:7").await.unwrap();
        stream.set_nodelay(true).unwrap();
        assert!(stream.nodelay().unwrap());
        stream.set_ttl(9).unwrap();
        assert_eq!(stream.ttl().unwrap(), 9);
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_nodelay(true).unwrap();
        socket.bind("0.0.0.0:5000".parse().unwrap()).unwrap();
        assert_eq!(socket.local_addr().unwrap().port(), 5000);
        let stream = socket.connect("10.0.0.2:7".parse().unwrap()).await.unwrap();
        assert!(stream.nodelay().unwrap());
        assert_eq!(stream.local_addr().unwrap().to_string(), "10.0.0.1:5000");
        let options = ConnectOptions::new().bind("0.0.0.0:5001".parse().unwrap());
        let stream = options.connect("a:7").await.unwrap();
        assert_eq!(stream.local_addr().unwrap().port(), 5001);
        let error = stream.into_std().unwrap_err();
        assert!(error.to_string().contains("no descriptor"), "{error}");
    });
}

#[test]
fn a_full_queue_of_a_listener_lets_connects_wait() {
    let program = || async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("0.0.0.0:7".parse().unwrap()).unwrap();
        let listener = socket.listen(2).unwrap();
        sleep(30 * SECOND).await;
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            // That client may be gone.
            let _ = stream.write_all(b"!").await;
        }
    };
    passes_with(Builder::new().seeds(silent(50)).host("a", program), || async {
        let clients: Vec<_> = (0..6)
            .map(|_| {
                spawn(async {
                    let stream = timeout(SECOND, TcpStream::connect("a:7")).await;
                    let connected = stream.is_ok();
                    let mut stream = match stream {
                        Ok(stream) => stream.unwrap(),
                        Err(_) => TcpStream::connect("a:7").await.unwrap(),
                    };
                    if stream.read_u8().await.is_err() { 0 } else { usize::from(connected) }
                })
            })
            .collect();
        let mut at_once = 0;
        for client in clients {
            at_once += client.await.unwrap();
        }
        sim::always!(at_once <= 2, "two wait");
    });
}

#[test]
fn a_peer_that_closes_with_unread_data_resets() {
    let program = || async {
        let listener = TcpListener::bind("0.0.0.0:7").await.unwrap();
        let (stream, _) = listener.accept().await.unwrap();
        stream.readable().await.unwrap();
        drop(stream);
        let (stream, _) = listener.accept().await.unwrap();
        drop(stream);
    };
    passes_with(Builder::new().seeds(silent(50)).host("a", program), || async {
        let mut stream = TcpStream::connect("a:7").await.unwrap();
        stream.write_all(b"unread").await.unwrap();
        let error = stream.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(stream.write_all(b"more").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        let mut stream = TcpStream::connect("a:7").await.unwrap();
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0, "the end, not an error");
        stream.write_all(b"nobody reads").await.unwrap();
        sleep(SECOND).await;
        let error = stream.write_all(b"this").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_partition_holds_data_and_its_end_lets_it_go() {
    passes_with(Builder::new().seeds(silent(100)).host("a", echo), || async {
        let mut stream = TcpStream::connect("a:7").await.unwrap();
        for ways in 0..3 {
            match ways {
                0 => sim::net::partition("main", "a"),
                1 => sim::net::partition_one_way("main", "a"),
                _ => sim::net::partition_one_way("a", "main"),
            }
            stream.write_all(b"hello").await.unwrap();
            let mut buf = [0; 5];
            assert!(timeout(30 * SECOND, stream.read(&mut buf)).await.is_err(), "{ways}");
            sim::net::heal("main", "a");
            timeout(SECOND, stream.read_exact(&mut buf)).await.unwrap().unwrap();
            assert_eq!(&buf, b"hello");
        }
        sim::net::partition("main", "a");
        let error = TcpStream::connect("a:7").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        stream.write_all(b"hello").await.unwrap();
        assert_eq!(stream.read_u8().await.unwrap_err().kind(), ErrorKind::TimedOut);
    });
}
