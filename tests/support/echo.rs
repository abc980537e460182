//! An echo server, clients that measure its delay, and a connection of one client.

use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored::time::{Duration, Instant, sleep};
use colored::{Handle, Runtime, spawn_unique};
use std::net::SocketAddr;

/// A client, and the stream of it that was accepted.
pub async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (client, listener.accept().await.unwrap().0)
}

/// Serves on `handle`'s runtime, each connection under a color of its own.
pub fn serve(handle: &Handle) -> SocketAddr {
    let (tell, address) = std::sync::mpsc::channel();
    drop(handle.spawn_unique(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        tell.send(listener.local_addr().unwrap()).unwrap();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            drop(spawn_unique(answer(stream)));
        }
    }));
    address.recv().unwrap()
}

async fn answer(mut stream: TcpStream) {
    let mut byte = [0];
    while stream.read_exact(&mut byte).await.is_ok() {
        stream.write_all(&byte).await.unwrap();
    }
}

/// Clients of the server, connected.
pub fn connect(clients: &Runtime, server: SocketAddr, count: usize) -> Vec<TcpStream> {
    clients.run(async move {
        let mut streams = Vec::new();
        for _ in 0..count {
            let mut stream = TcpStream::connect(server).await.unwrap();
            round_trip(&mut stream).await;
            streams.push(stream);
        }
        streams
    })
}

/// So many round trips of every client, with pauses of some milliseconds: how long each took.
pub async fn measure(streams: Vec<TcpStream>, rounds: u64) -> Vec<Duration> {
    let client = |(number, mut stream): (usize, TcpStream)| async move {
        let mut times = Vec::new();
        for round in 0..rounds {
            sleep(Duration::from_millis(2 + (number as u64 + round) % 10)).await;
            times.push(round_trip(&mut stream).await);
        }
        times
    };
    let clients: Vec<_> =
        streams.into_iter().enumerate().map(client).map(|client| spawn_unique(client)).collect();
    let mut times = Vec::new();
    for client in clients {
        times.extend(client.await.unwrap());
    }
    times
}

async fn round_trip(stream: &mut TcpStream) -> Duration {
    let start = Instant::now();
    let mut byte = [7];
    stream.write_all(&byte).await.unwrap();
    stream.read_exact(&mut byte).await.unwrap();
    start.elapsed()
}
