//! mio, tokio and corosensei, on which the runtime stands.

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A listener, both ends of a connection, and bytes both ways, by events alone.
pub(crate) fn mio_tcp_echo() {
    const LISTENER: Token = Token(0);
    const CLIENT: Token = Token(1);
    const SERVER: Token = Token(2);
    let both = Interest::READABLE | Interest::WRITABLE;
    let mut poll = Poll::new().expect("the system has events");
    let mut events = Events::with_capacity(16);
    let mut listener =
        TcpListener::bind("127.0.0.1:0".parse().expect("it is one")).expect("a port");
    let mut client =
        TcpStream::connect(listener.local_addr().expect("an address")).expect("it begins");
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE).expect("it is new");
    poll.registry().register(&mut client, CLIENT, both).expect("it is new");
    let (mut server, mut answer, mut is_sent) = (None::<TcpStream>, Vec::new(), false);
    while answer.len() < 5 {
        poll.poll(&mut events, Some(Duration::from_secs(5))).expect("events come");
        assert!(!events.is_empty(), "no event came, and {} bytes", answer.len());
        for event in &events {
            match event.token() {
                LISTENER => {
                    let mut stream = listener.accept().expect("a connection").0;
                    poll.registry().register(&mut stream, SERVER, both).expect("it is new");
                    server = Some(stream);
                }
                CLIENT if !is_sent && event.is_writable() => {
                    client.write_all(b"hello").expect("there is room");
                    is_sent = true;
                }
                CLIENT => drop(read_all(&mut client, &mut answer)),
                SERVER => {
                    let (stream, mut bytes) = (server.as_mut().expect("it is there"), Vec::new());
                    read_all(stream, &mut bytes);
                    stream.write_all(&bytes).expect("there is room");
                }
                token => panic!("an event of {token:?}"),
            }
        }
    }
    assert_eq!(answer, b"hello");
}

fn read_all(stream: &mut TcpStream, bytes: &mut Vec<u8>) {
    let mut piece = [0; 16];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => bytes.extend(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(error) => panic!("{error}"),
        }
    }
}

fn on_tokio(main: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("the runtime starts")
        .block_on(main);
}

pub(crate) fn tokio_tcp_echo() {
    on_tokio(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let mut bytes = [0; 5];
            stream.read_exact(&mut bytes).await.expect("five bytes");
            stream.write_all(&bytes).await.expect("there is room");
        });
        let mut client = tokio::net::TcpStream::connect(address).await.expect("it listens");
        client.write_all(b"hello").await.expect("there is room");
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.expect("the server answers");
        server.await.expect("it ends");
        assert_eq!(answer, b"hello");
    });
}

/// What quinn asks of a socket before it sends many datagrams by one call.
pub(crate) fn datagrams_move_in_bulk() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    quinn_udp::UdpSocketState::new((&socket).into()).expect("the system has the options");
}

pub(crate) fn tokio_timers() {
    on_tokio(async {
        let start = Instant::now();
        let timers = [30, 10, 20].map(|millis| {
            tokio::spawn(async move { tokio::time::sleep(Duration::from_millis(millis)).await })
        });
        for timer in timers {
            timer.await.expect("it ends");
        }
        assert!(start.elapsed() >= Duration::from_millis(30));
    });
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) fn a_stack_is_switched_and_unwound() {
    use corosensei::{Coroutine, CoroutineResult};
    use std::rc::Rc;
    let mut numbers = Coroutine::<u32, u32, ()>::new(|yielder, first| {
        let second = yielder.suspend(first + 1);
        yielder.suspend(second + 1);
        panic!("on purpose")
    });
    let mut next = |value| match numbers.resume(value) {
        CoroutineResult::Yield(value) => value,
        CoroutineResult::Return(()) => panic!("it has not ended"),
    };
    assert_eq!([next(1), next(10)], [2, 11]);
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| next(0)));
    assert!(ended.is_err(), "its panic comes back");
    // One that is dropped while it waits is unwound.
    let value = Rc::new(());
    let kept = Rc::clone(&value);
    let mut waits = Coroutine::<(), (), ()>::new(move |yielder, ()| {
        let _kept = kept;
        yielder.suspend(());
    });
    let _ = waits.resume(());
    drop(waits);
    assert_eq!(Rc::strong_count(&value), 1);
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) fn a_stack_is_switched_and_unwound() {}
