//! TCP.

use super::support::{echo, pair, run};
use colored::Color;
use colored_stackful::net::{TcpListener, TcpStream};
use colored_stackful::{spawn, spawn_unique, wait, yield_now};
use std::io::{ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

#[test]
fn bytes_go_both_ways_up_to_the_end() {
    run(|| {
        let (client, server) = pair();
        echo(client, server, |client| client.shutdown(Shutdown::Write).unwrap());
    });
}

#[test]
fn a_writer_waits_for_a_reader_in_another_task() {
    const BYTES: usize = 20_000_000;
    run(|| {
        let (client, mut server) = pair();
        let writer = client.try_clone().unwrap();
        let writes = spawn_unique(move || {
            (&writer).write_all(&vec![7; BYTES]).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut bytes = Vec::new();
        server.read_to_end(&mut bytes).unwrap();
        assert!(bytes.len() == BYTES && bytes.iter().all(|byte| *byte == 7));
        wait(writes).unwrap();
    });
}

#[test]
fn a_clone_is_the_same_connection() {
    run(|| {
        let (client, server) = pair();
        let clone = client.try_clone().unwrap();
        let client = client.into_inner().unwrap_err();
        let reads = spawn_unique(move || (&client).read(&mut [0]).unwrap());
        yield_now();
        clone.shutdown(Shutdown::Both).unwrap();
        assert_eq!(wait(reads).unwrap(), 0, "the read that waited is over");
        assert_eq!((&server).read(&mut [0]).unwrap(), 0);
        clone.into_inner().expect("the other one is gone");
    });
}

#[test]
fn two_tasks_read_one_connection() {
    run(|| {
        let (client, server) = pair();
        let server = Arc::new(server);
        let readers = [(); 2].map(|()| {
            let server = server.clone();
            spawn_unique(move || {
                let mut byte = [0];
                (&*server).read_exact(&mut byte).unwrap();
                byte[0]
            })
        });
        yield_now();
        (&client).write_all(&[1]).unwrap();
        (&client).write_all(&[2]).unwrap();
        let sum: u8 = readers.map(|reader| wait(reader).unwrap()).into_iter().sum();
        assert_eq!(sum, 3);
    });
}

#[test]
fn several_buffers_and_a_look_ahead() {
    run(|| {
        let (mut client, mut server) = pair();
        let written = client.write_vectored(&[IoSlice::new(b"ab"), IoSlice::new(b"cd")]).unwrap();
        assert_eq!(written, 4);
        client.flush().unwrap();
        let (mut one, mut other) = ([0; 3], [0; 3]);
        assert!((1..=4).contains(&server.peek(&mut [0; 9]).unwrap()));
        drop(client);
        let mut bufs = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut other)];
        assert_eq!(server.read_vectored(&mut bufs).unwrap(), 4);
        assert_eq!((&one, &other[..1]), (b"abc", &b"d"[..]));
        assert_eq!(server.peek(&mut [0]).unwrap(), 0);
    });
}

#[test]
fn an_empty_read_waits_for_nobody() {
    run(|| {
        let (mut client, _server) = pair();
        assert_eq!(client.read(&mut []).unwrap(), 0);
        assert_eq!(client.read_vectored(&mut [IoSliceMut::new(&mut [])]).unwrap(), 0);
        assert_eq!(client.write(&[]).unwrap(), 0);
        assert_eq!(client.write_vectored(&[]).unwrap(), 0);
    });
}

#[test]
fn options_and_addresses_are_those_of_the_socket() {
    run(|| {
        let (client, server) = pair();
        assert_eq!(client.local_addr().unwrap(), server.peer_addr().unwrap());
        assert_eq!(client.peer_addr().unwrap(), server.local_addr().unwrap());
        for at_once in [true, false] {
            client.set_nodelay(at_once).unwrap();
            assert_eq!(client.nodelay().unwrap(), at_once);
        }
        client.set_ttl(77).unwrap();
        assert_eq!((client.ttl().unwrap(), client.get_ref().ttl().unwrap()), (77, 77));
        assert!(client.take_error().unwrap().is_none());
        assert!(format!("{client:?}").contains("127.0.0.1"));
    });
}

#[test]
fn connections_come_to_a_listener_one_after_another() {
    run(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let server = spawn_unique(move || {
            for (number, stream) in (0..3_u8).zip(&listener) {
                stream.unwrap().write_all(&[number]).unwrap();
            }
        });
        for number in 0..3 {
            let mut got = Vec::new();
            let mut stream = TcpStream::connect_timeout(&addr, Duration::from_secs(20)).unwrap();
            stream.read_to_end(&mut got).unwrap();
            assert_eq!(got, [number]);
        }
        wait(server).unwrap();
    });
}

#[test]
fn a_refused_connection_has_the_number_of_the_system() {
    run(|| {
        // A reserved port, on which nobody listens.
        let error = TcpStream::connect("127.0.0.1:1").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let std = std::net::TcpStream::connect("127.0.0.1:1").unwrap_err();
        assert_eq!(error.raw_os_error(), std.raw_os_error(), "{error:?}");
    });
}

#[test]
fn sockets_of_std_and_of_the_runtime_become_ours() {
    run(|| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let client = TcpStream::try_from(client).unwrap();
        let listener = TcpListener::from(colored::net::TcpListener::from_std(listener).unwrap());
        let (server, _) = listener.accept().unwrap();
        let server = TcpStream::from(server.into_inner().unwrap());
        (&server).write_all(b"a").unwrap();
        let mut byte = [0];
        (&client).read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"a");
    });
}

/// 1,000 reads are 1,000 units of the budget, of which a poll has 128.
#[test]
fn a_stream_that_is_always_ready_lets_others_run() {
    run(|| {
        let (client, mut server) = pair();
        (&client).write_all(&[7; 1_000]).unwrap();
        let color = Color::of("one");
        let (is_over, turns) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let other = {
            let (is_over, turns) = (is_over.clone(), turns.clone());
            spawn(color, move || {
                // Ordering: one color runs all of it.
                while !is_over.load(Ordering::Relaxed) {
                    turns.fetch_add(1, Ordering::Relaxed);
                    yield_now();
                }
            })
        };
        let reader = spawn(color, move || {
            let begin = turns.load(Ordering::Relaxed);
            for _ in 0..1_000 {
                server.read_exact(&mut [0]).unwrap();
            }
            is_over.store(true, Ordering::Relaxed);
            turns.load(Ordering::Relaxed) - begin
        });
        let turns = wait(reader).unwrap();
        assert!(turns >= 5, "{turns} turns of another task in 1,000 reads");
        wait(other).unwrap();
    });
}

#[test]
fn outside_a_stackful_task_an_operation_is_an_error() {
    let runtime = colored::Runtime::new().unwrap();
    runtime.block_on(async {
        let listener = colored::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = colored::net::TcpStream::connect(listener.local_addr().unwrap()).await;
        let mut client = TcpStream::from(client.unwrap());
        let error = client.read(&mut [0]).unwrap_err();
        assert!(error.to_string().contains("outside a stackful task"), "{error}");
        TcpListener::from(listener).accept().unwrap_err();
        TcpStream::connect("127.0.0.1:1").unwrap_err();
    });
}
