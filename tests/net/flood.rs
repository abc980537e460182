//! A socket that always has something to do.

use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream, UdpSocket};
use colored::{Runtime, spawn_colored};
use colored_tests::shared;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// So many datagrams may pass between a question and its answer on the one worker. A few turns of the two flooding
/// tasks, of 128 datagrams each, pass for each of the four times that a connection has to wait; many more where the
/// system's own thread, which carries the bytes over, waits for a CPU. A client that starves waits without an end.
const MOST: u64 = 1_000 * 128;

/// Three tasks share one worker with it: one that sends datagrams without an end, one that receives them, and a client
/// of a server that echoes. All have colors of their own.
#[test]
fn a_flood_of_datagrams_starves_nobody() {
    const ROUNDS: u64 = 100;
    let main = async {
        let (passed, taken) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let drain = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let source = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        source.connect(drain.local_addr().unwrap()).await.unwrap();
        let (passing, taking) = (Arc::clone(&passed), Arc::clone(&taken));
        let flood = spawn_colored(1, async move {
            loop {
                source.send(&[7; 64]).await.unwrap();
                passing.fetch_add(1, Ordering::Relaxed);
            }
        });
        let drained = spawn_colored(2, async move {
            loop {
                drain.recv(&mut [0; 64]).await.unwrap();
                taking.fetch_add(1, Ordering::Relaxed);
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let echo = spawn_colored(3, async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (mut reader, mut writer) = stream.split();
            colored::io::copy(&mut reader, &mut writer).await.unwrap()
        });
        let mut client = TcpStream::connect(addr).await.unwrap();
        let before = passed.load(Ordering::Relaxed);
        for round in 0..ROUNDS {
            client.write_u64(round).await.unwrap();
            assert_eq!(client.read_u64().await.unwrap(), round);
        }
        let during = passed.load(Ordering::Relaxed) - before;
        drop(client);
        assert_eq!(echo.await.unwrap(), 8 * ROUNDS);
        assert!(taken.load(Ordering::Relaxed) > 0, "who receives them starves");
        assert!(during > 0, "there was no flood");
        assert!(during <= ROUNDS * MOST, "{during} datagrams in {ROUNDS} rounds");
        // First, because a send to a socket that is gone fails.
        flood.abort();
        assert!(flood.await.unwrap_err().is_cancelled());
        drained.abort();
    };
    // One thread alone: no spare worker goes on with a task whose thread the system has stopped.
    let alone = Runtime::builder().workers(1).spare_workers(0);
    shared(|| alone.build().unwrap().run(main));
}
