//! A listener for each worker.

use colored::Color;
use colored::io::{AsyncReadExt, AsyncWriteExt, named};
use colored::net::{ListenOptions, TcpListener, TcpStream};
use colored::task::JoinSet;
use colored_tests::run;
use std::io::ErrorKind;
use std::net::SocketAddr;

const WORKERS: usize = 4;

async fn listeners() -> (Vec<TcpListener>, SocketAddr) {
    let listeners = TcpListener::bind_per_worker("127.0.0.1:0").await.unwrap();
    let addr = listeners[0].local_addr().unwrap();
    assert_eq!(listeners.len(), WORKERS);
    assert!(listeners.iter().all(|listener| listener.local_addr().unwrap() == addr));
    (listeners, addr)
}

/// Each listener has a task under a color of its own, and gets a part of the connections. With 128 connections, the
/// chance that one of four gets none is below 10⁻¹⁵.
#[test]
fn connections_are_spread_over_the_colors_of_the_listeners() {
    const CLIENTS: usize = 128;
    async fn accept(listener: TcpListener, color: Color) -> std::io::Result<()> {
        loop {
            let (mut stream, _) = listener.accept().await?;
            assert_eq!(Color::current(), Some(color));
            stream.write_all(&color.number().to_be_bytes()).await?;
        }
    }
    run(WORKERS, async {
        let (listeners, addr) = listeners().await;
        let mut acceptors = JoinSet::new();
        for (listener, color) in listeners.into_iter().zip(1_u64..) {
            let color = Color::new(color);
            acceptors.spawn_colored(color, accept(listener, color));
        }
        let mut clients = JoinSet::new();
        for _ in 0..CLIENTS {
            clients.spawn_unique(async move {
                let mut stream = TcpStream::connect(addr).await.unwrap();
                stream.read_u64().await.unwrap()
            });
        }
        let mut of_color = [0; WORKERS];
        for color in clients.join_all().await {
            of_color[usize::try_from(color).unwrap() - 1] += 1;
        }
        assert_eq!(of_color.iter().sum::<usize>(), CLIENTS);
        assert!(of_color.iter().all(|&n| n > 0), "{of_color:?}");
        acceptors.shutdown().await;
    });
}

/// One that does not ask to share its port does not.
#[test]
fn options_and_errors_are_those_of_one_listener() {
    run(WORKERS, async {
        let (_listeners, addr) = listeners().await;
        let error = TcpListener::bind(addr).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        let alone = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let taken = alone.local_addr().unwrap();
        let error = named(TcpListener::bind_per_worker(taken)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        let text = format!("cannot listen on {taken}: ");
        assert!(error.to_string().starts_with(&text), "{error}");
        let error = ListenOptions::new().ttl(0).listen_per_worker("127.0.0.1:0").await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidInput);
        let low = ListenOptions::new().ttl(9).listen_per_worker("127.0.0.1:0").await.unwrap();
        assert!(low.iter().all(|listener| listener.ttl().unwrap() == 9));
    });
}

/// The main future may be on a thread that is no worker.
#[test]
fn the_runtime_counts_and_not_the_thread() {
    colored_tests::shared(|| {
        let runtime = colored_tests::runtime(WORKERS);
        let listeners = runtime.block_on(TcpListener::bind_per_worker("127.0.0.1:0")).unwrap();
        assert_eq!(listeners.len(), WORKERS);
    });
}
