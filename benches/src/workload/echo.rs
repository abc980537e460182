//! One connection, one small message there and back.
//!
//! The client is a plain blocking thread outside the runtime: only the servers differ.

use super::Row;
use crate::measure::{Case, Entry, Pace, Sample, Unit};
use crate::placement::Placement;
use crate::rivals::{Rival, Runtimes, Tokio};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The rows of this file.
pub const ROWS: &[Row] = &[
    Row { name: "echo", build: |on, _| case(on, Placement::Apart) },
    Row { name: "echo_one_core", build: |on, _| case(on, Placement::Together) },
];

/// Round trips per sample.
const TRIPS: usize = 500;
/// Bytes of a message.
const LENGTH: usize = 64;

fn case(on: Runtimes, placement: Placement) -> Case {
    Case {
        unit: Unit::us("us/trip"),
        pace: Pace::Short,
        entries: vec![
            Entry::subject(trips(colored_server(on), placement)),
            Entry::peer("tokio", trips(tokio_server(on.tokio()), placement)),
        ],
    }
}

/// The server's loop, the same for every stream.
async fn echo(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut buffer = [0; LENGTH];
    while let Ok(length @ 1..) = stream.read(&mut buffer).await {
        if stream.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

fn colored_server(on: Runtimes) -> SocketAddr {
    on.serial().run(async {
        let listener = colored::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        drop(colored::spawn_unique(async move {
            let (stream, _) = listener.accept().await.expect("one client comes");
            stream.set_nodelay(true).expect("it is a TCP socket");
            echo(stream).await;
        }));
        address
    })
}

fn tokio_server(on: Tokio) -> SocketAddr {
    on.run(async {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        drop(tokio::spawn(async move {
            let (stream, _) = listener.accept().await.expect("one client comes");
            stream.set_nodelay(true).expect("it is a TCP socket");
            echo(stream).await;
        }));
        address
    })
}

fn trips(server: SocketAddr, placement: Placement) -> impl FnMut() -> Sample {
    let mut stream = TcpStream::connect(server).expect("the server listens");
    stream.set_nodelay(true).expect("it is a TCP socket");
    move || {
        let _placed = placement.hold().expect("the process may place its threads");
        Sample::time(TRIPS as u64, || {
            for trip in 0..TRIPS {
                let message = [trip as u8; LENGTH];
                let mut answer = [0; LENGTH];
                stream.write_all(&message).expect("the server reads");
                stream.read_exact(&mut answer).expect("the server answers");
                assert_eq!(answer, message);
            }
        })
    }
}
