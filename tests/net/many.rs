//! Many connections.

use crate::support::{child, runtime, shared};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored::task::Group;

/// All of them are under way at once, and each gets its own answer.
#[test]
fn a_thousand_simultaneous_connects_succeed() {
    const CLIENTS: u64 = 1000;
    let body = || {
        shared(|| {
            runtime(2).run(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let addr = listener.local_addr().unwrap();
                let mut clients = Group::new();
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
