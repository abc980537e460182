//! tokio's own sockets.

use crate::support::{in_colors, with_tokio};
use colored::{Color, ColorCell, spawn_unique};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const EACH: u64 = 1000;

/// Echoes every eight bytes, `times` times for each connection.
async fn echo(times: u64) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(spawn_unique(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            drop(spawn_unique(async move {
                for _ in 0..times {
                    let Ok(number) = stream.read_u64().await else { break };
                    stream.write_u64(number).await.unwrap();
                }
            }));
        }
    }));
    addr
}

pub(super) async fn many() -> u64 {
    let addr = echo(EACH).await;
    let visits = in_colors(4, 2, |witness, task| async move {
        let mut stream = TcpStream::connect(addr).await.unwrap();
        witness.visit();
        for n in 0..EACH {
            stream.write_u64(task << 32 | n).await.unwrap();
            witness.visit();
            assert_eq!(stream.read_u64().await.unwrap(), task << 32 | n);
            witness.visit();
        }
    });
    visits.await
}

pub(super) async fn gone() {
    let addr = echo(3).await;
    let visits = in_colors(4, 2, |witness, task| async move {
        let mut stream = TcpStream::connect(addr).await.unwrap();
        for _ in 0..3 {
            stream.write_u64(task).await.unwrap();
            assert_eq!(stream.read_u64().await.unwrap(), task);
            witness.visit();
        }
        stream.read_u64().await.unwrap_err();
        witness.visit();
    });
    assert_eq!(visits.await, 8 * 4);
}

/// And so it may overlap any task. It reaches a color by a cell, or by a spawn: its thread is inside of our runtime.
#[test]
fn what_tokio_spawns_has_no_color_and_reaches_one() {
    with_tokio(async {
        let color = Color::new(7);
        let cell = ColorCell::new(color, 1);
        let inside = cell.clone();
        let spawned = tokio::spawn(async move {
            assert_eq!(Color::current(), None);
            inside.try_with(|_| ()).unwrap_err();
            inside.call(|value| *value += 1).await;
            colored::spawn_colored(color, async { Color::current() }).await.unwrap()
        });
        assert_eq!(spawned.await.unwrap(), Some(color));
        assert_eq!(cell.call(|value| *value).await, 2);
    });
}
