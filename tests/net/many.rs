//! Many connections.

use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored::task::JoinSet;
use colored_tests::{child, runtime, shared, wait_until};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// All of them are under way at once, and each gets its own answer.
#[test]
fn a_thousand_simultaneous_connects_succeed() {
    const CLIENTS: u64 = 1000;
    let body = || {
        shared(|| {
            runtime(2).run(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let addr = listener.local_addr().unwrap();
                let mut clients = JoinSet::new();
                for number in 0..CLIENTS {
                    clients.spawn_unique(async move {
                        let mut stream = TcpStream::connect(addr).await.unwrap();
                        stream.write_u64(number).await.unwrap();
                        stream.read_u64().await.unwrap() - number
                    });
                }
                for _ in 0..CLIENTS {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    let _detached = colored::spawn_unique(async move {
                        let number = stream.read_u64().await.unwrap();
                        stream.write_u64(number + 1).await.unwrap();
                    });
                }
                assert_eq!(clients.join_all().await.iter().sum::<u64>(), CLIENTS);
            });
        });
    };
    child::run_after(
        "ulimit -n 4096",
        module_path!(),
        "a_thousand_simultaneous_connects_succeed",
        body,
    );
}

/// However many questions others ask: the task of an idle connection is not polled.
#[test]
fn idle_connections_cost_the_active_ones_no_polls() {
    const IDLE: usize = 400;
    const ROUNDS: u64 = 500;
    /// Counts the polls of a read that nothing is sent to.
    async fn idle(mut stream: TcpStream, polls: Arc<AtomicUsize>) {
        let mut read = pin!(stream.read_u8());
        let counted = poll_fn(|cx| {
            polls.fetch_add(1, Ordering::Relaxed);
            read.as_mut().poll(cx)
        });
        drop(counted.await);
    }
    let body = || {
        shared(|| {
            let polls = Arc::new(AtomicUsize::new(0));
            let runtime = runtime(2);
            let all = Arc::clone(&polls);
            let (listener, _clients) = runtime.run(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let mut clients = Vec::new();
                for _ in 0..IDLE {
                    clients.push(TcpStream::connect(listener.local_addr().unwrap()).await.unwrap());
                    let (stream, _) = listener.accept().await.unwrap();
                    let _detached = colored::spawn_unique(idle(stream, Arc::clone(&all)));
                }
                (listener, clients)
            });
            wait_until(|| polls.load(Ordering::Relaxed) == IDLE);
            runtime.run(async move {
                let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
                let (mut server, _) = listener.accept().await.unwrap();
                let echo = colored::spawn_unique(async move {
                    let (mut reader, mut writer) = server.split();
                    colored::io::copy(&mut reader, &mut writer).await.unwrap()
                });
                for round in 0..ROUNDS {
                    client.write_u64(round).await.unwrap();
                    assert_eq!(client.read_u64().await.unwrap(), round);
                }
                drop(client);
                assert_eq!(echo.await.unwrap(), 8 * ROUNDS);
            });
            assert_eq!(polls.load(Ordering::Relaxed), IDLE);
        });
    };
    child::run_after(
        "ulimit -n 4096",
        module_path!(),
        "idle_connections_cost_the_active_ones_no_polls",
        body,
    );
}
