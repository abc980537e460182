//! tokio's own sockets.

use crate::support::{in_colors, with_tokio};
use colored::spawn_unique;
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

#[test]
fn a_thousand_round_trips_on_each_connection() {
    with_tokio(async {
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
        assert_eq!(visits.await, 8 * (2 * EACH + 1));
    });
}

#[test]
fn a_peer_that_goes_away_is_an_error() {
    with_tokio(async {
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
    });
}
