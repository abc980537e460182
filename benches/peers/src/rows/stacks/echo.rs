//! 1,000 clients, each of which sends 200 messages and awaits their echoes: the CPU time of the whole process.

use super::{prepare_may, start};
use crate::setup::Setup;
use colored_benches::Rival;
use colored_benches::measure::{Case, Entry, Sample, Unit};
use colored_benches::rivals::Unique;
use colored_stackful::{spawn_unique, wait};
use rustix::time::{ClockId, clock_gettime};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const MESSAGE: usize = 64;
const HERE: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// How many clients, and how many messages of each.
#[derive(Clone, Copy)]
struct Size {
    clients: u64,
    messages: u64,
}

pub(in crate::rows) fn case(setup: &Setup) -> Case {
    prepare_may();
    let size = Size { clients: setup.count(1_000, 20), messages: setup.count(200, 5) };
    let on = setup.runtimes().unique();
    let sampler = move |run: fn(Unique, Size) -> u64| {
        move || {
            let (begin, before) = (Instant::now(), cpu_time());
            let echoes = run(on, size);
            let ops = size.clients * size.messages;
            assert_eq!(echoes, ops, "an echo is missing");
            Sample { cost: cpu_time() - before, wall: begin.elapsed(), ops }
        }
    };
    let entries = vec![
        Entry::subject(sampler(stacks)),
        Entry::peer("futures", sampler(futures)),
        Entry::peer("may", sampler(coroutines)),
        Entry::peer("threads", sampler(|_, size| threads(size))),
    ];
    Case { unit: Unit::us("us/echo"), pace: setup.rounds(1), entries }
}

/// The CPU time of all threads of the process.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Echoes what comes, up to the end.
fn echo(mut stream: impl Read + Write) -> io::Result<()> {
    let mut message = [0; MESSAGE];
    loop {
        match stream.read(&mut message)? {
            0 => return Ok(()),
            length => stream.write_all(&message[..length])?,
        }
    }
}

/// The number of echoes that are right.
fn talk(mut stream: impl Read + Write, messages: u64) -> io::Result<u64> {
    let mut right = 0;
    for number in 0..messages {
        let message = [number as u8; MESSAGE];
        stream.write_all(&message)?;
        let mut answer = [0; MESSAGE];
        stream.read_exact(&mut answer)?;
        right += u64::from(answer == message);
    }
    Ok(right)
}

fn stacks(on: Unique, size: Size) -> u64 {
    use colored_stackful::net::{TcpListener, TcpStream};
    let all = move || -> io::Result<u64> {
        let listener = TcpListener::bind(HERE)?;
        let addr = listener.local_addr()?;
        let accepts = spawn_unique(move || {
            for stream in listener.incoming().take(size.clients as usize) {
                let stream = stream.expect("it accepts");
                stream.set_nodelay(true).expect("it is a TCP socket");
                drop(spawn_unique(move || echo(stream)));
            }
        });
        let client = move || -> io::Result<u64> {
            let stream = TcpStream::connect(addr)?;
            stream.set_nodelay(true)?;
            talk(stream, size.messages)
        };
        let clients: Vec<_> = (0..size.clients).map(|_| spawn_unique(client)).collect();
        wait(accepts).expect("it does not panic");
        clients.into_iter().map(|client| wait(client).expect("it does not panic")).sum()
    };
    let done = Rival::run(on, async move { spawn_unique(all).await.expect("it does not panic") });
    done.expect("the sockets work")
}

fn futures(on: Unique, size: Size) -> u64 {
    use colored::net::TcpListener;
    Rival::run(on, async move {
        let listener = TcpListener::bind(HERE).await.expect("a port is free");
        let addr = listener.local_addr().expect("it is bound");
        let accepts = colored::spawn_unique(async move {
            for _ in 0..size.clients {
                let (stream, _) = listener.accept().await.expect("it accepts");
                stream.set_nodelay(true).expect("it is a TCP socket");
                drop(colored::spawn_unique(echo_async(stream)));
            }
        });
        let client = || colored::spawn_unique(talk_async(addr, size.messages));
        let clients: Vec<_> = (0..size.clients).map(|_| client()).collect();
        accepts.await.expect("it does not panic");
        let mut right = 0;
        for client in clients {
            right += client.await.expect("it does not panic").expect("the sockets work");
        }
        right
    })
}

async fn echo_async(mut stream: colored::net::TcpStream) -> io::Result<()> {
    let mut message = [0; MESSAGE];
    loop {
        match stream.read(&mut message).await? {
            0 => return Ok(()),
            length => stream.write_all(&message[..length]).await?,
        }
    }
}

async fn talk_async(addr: SocketAddr, messages: u64) -> io::Result<u64> {
    let mut stream = colored::net::TcpStream::connect(addr).await?;
    stream.set_nodelay(true)?;
    let mut right = 0;
    for number in 0..messages {
        let message = [number as u8; MESSAGE];
        stream.write_all(&message).await?;
        let mut answer = [0; MESSAGE];
        stream.read_exact(&mut answer).await?;
        right += u64::from(answer == message);
    }
    Ok(right)
}

fn coroutines(_: Unique, size: Size) -> u64 {
    use may::net::{TcpListener, TcpStream};
    let listener = TcpListener::bind(HERE).expect("a port is free");
    let addr = listener.local_addr().expect("it is bound");
    let accepts = may::go!(move || {
        for _ in 0..size.clients {
            let (stream, _) = listener.accept().expect("it accepts");
            stream.set_nodelay(true).expect("it is a TCP socket");
            drop(may::go!(move || echo(stream)));
        }
    });
    let client = move || -> io::Result<u64> {
        let stream = TcpStream::connect(addr)?;
        stream.set_nodelay(true)?;
        talk(stream, size.messages)
    };
    let clients: Vec<_> = (0..size.clients).map(|_| may::go!(client)).collect();
    accepts.join().expect("it does not panic");
    let right = |client: may::coroutine::JoinHandle<io::Result<u64>>| {
        client.join().expect("it does not panic").expect("the sockets work")
    };
    clients.into_iter().map(right).sum()
}

fn threads(size: Size) -> u64 {
    use std::net::{TcpListener, TcpStream};
    let listener = TcpListener::bind(HERE).expect("a port is free");
    let addr = listener.local_addr().expect("it is bound");
    let accepts = start(move || {
        for _ in 0..size.clients {
            let (stream, _) = listener.accept().expect("it accepts");
            stream.set_nodelay(true).expect("it is a TCP socket");
            drop(start(move || echo(stream)));
        }
    });
    let client = move || -> io::Result<u64> {
        let stream = TcpStream::connect(addr)?;
        stream.set_nodelay(true)?;
        talk(stream, size.messages)
    };
    let clients: Vec<_> = (0..size.clients).map(|_| start(client)).collect();
    accepts.join().expect("it does not panic");
    let right = |client: std::thread::JoinHandle<io::Result<u64>>| {
        client.join().expect("it does not panic").expect("the sockets work")
    };
    clients.into_iter().map(right).sum()
}
