//! Sockets with names and queues of the system.

use colored::io::{AsyncReadExt, AsyncWriteExt, named};
use colored::net::{ListenOptions, TcpListener, TcpStream, lookup_host};
use colored::time::{Duration, timeout};
use colored_tests::{child, join_all, run};
use std::env;
use std::net::{IpAddr, SocketAddr};

/// A name that has several addresses in [`HOSTS`].
const NAME: &str = "several.test";
const ADDRESSES: [IpAddr; 3] = [v4(2), v4(3), v4(4)];

/// Goes on with a file of hosts of its own, where the system lets a process have one.
const HOSTS: &str = r#"
if [ -z "$COLORED_TESTS_HOSTS" ]; then
    hosts=$(mktemp)
    printf '127.0.0.%s several.test\n' 2 3 4 >"$hosts"
    inside='mount --bind "$HOSTS" /etc/hosts && getent ahostsv4 several.test'
    if HOSTS="$hosts" unshare -rm sh -c "$inside" >/dev/null 2>&1; then
        export COLORED_TESTS_HOSTS="$hosts"
        exec unshare -rm sh -c 'mount --bind "$COLORED_TESTS_HOSTS" /etc/hosts
            rm "$COLORED_TESTS_HOSTS"
            exec "$0" "$@"' "$0" "$@"
    fi
    rm "$hosts"
fi"#;

const fn v4(last: u8) -> IpAddr {
    IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, last))
}

#[test]
fn every_address_of_a_name_is_tried() {
    child::run_after(HOSTS, module_path!(), "every_address_of_a_name_is_tried", || {
        if env::var_os("COLORED_TESTS_HOSTS").is_none() {
            eprintln!("skipped: this system lets no process have hosts of its own");
            return;
        }
        run(2, async {
            let last = TcpListener::bind((ADDRESSES[2], 0)).await.unwrap();
            let port = last.local_addr().unwrap().port();
            let all = ADDRESSES.map(|ip| SocketAddr::new(ip, port));
            let found: Vec<_> = lookup_host((NAME, port)).await.unwrap().collect();
            assert_eq!(found, all);

            // Two refuse, and the third answers.
            let mut client = TcpStream::connect((NAME, port)).await.unwrap();
            assert_eq!(client.peer_addr().unwrap(), all[2]);
            let (mut server, _) = last.accept().await.unwrap();
            client.write_all(b"x").await.unwrap();
            assert_eq!(server.read_u8().await.unwrap(), b'x');

            // Each takes the first that is free.
            let first = TcpListener::bind((NAME, port)).await.unwrap();
            assert_eq!(first.local_addr().unwrap(), all[0]);
            let second = TcpListener::bind((NAME, port)).await.unwrap();
            assert_eq!(second.local_addr().unwrap(), all[1]);
            let taken = named(TcpListener::bind((NAME, port)));
            let error = taken.await.unwrap_err().to_string();
            for addr in all {
                assert!(error.contains(&addr.to_string()), "{error}");
            }
        });
    });
}

/// Linux keeps one connection more than the backlog says, and does not answer the next.
#[cfg(target_os = "linux")]
#[test]
fn the_backlog_is_as_long_as_asked_for() {
    for backlog in [1, 5] {
        run(2, async move {
            let listener = ListenOptions::new().backlog(backlog).listen("127.0.0.1:0").await;
            let listener = listener.unwrap();
            let addr = listener.local_addr().unwrap();
            let mut clients = Vec::new();
            // The system sends the next request to connect after a second.
            while let Ok(client) =
                timeout(Duration::from_millis(500), TcpStream::connect(addr)).await
            {
                clients.push(client.unwrap());
                assert!(clients.len() < 64, "a backlog of {backlog} has no end");
            }
            assert_eq!(clients.len() as u32, backlog + 1);
            for client in &clients {
                let (_, peer) = listener.accept().await.unwrap();
                assert_eq!(peer, client.local_addr().unwrap());
            }
            TcpStream::connect(addr).await.unwrap();
        });
    }
}

/// Answers that fill the buffers of the system, so that writers wait for room, and connections that end with
/// data on their way.
#[cfg(unix)]
#[test]
fn many_clients_of_a_unix_socket_lose_nothing() {
    use colored::net::{UnixListener, UnixStream};
    const CLIENTS: usize = 64;
    const ANSWER: usize = 1 << 19;

    async fn answer(mut stream: UnixStream) {
        let factor = stream.read_u8().await.unwrap();
        let all = (0..ANSWER).map(|at| (at as u8).wrapping_mul(factor)).collect::<Vec<_>>();
        stream.write_all(&all).await.unwrap();
    }

    let path = env::temp_dir().join(format!("colored-tests-{}", std::process::id()));
    // Of a process that had this number, and failed.
    let _ = std::fs::remove_file(&path);
    let at = path.clone();
    run(2, async move {
        let listener = UnixListener::bind(&at).unwrap();
        let server = colored::spawn_unique(async move {
            for _ in 0..CLIENTS {
                let (stream, _) = listener.accept().await.unwrap();
                drop(colored::spawn_unique(answer(stream)));
            }
        });
        let client = |number: usize| {
            let at = at.clone();
            colored::spawn_unique(async move {
                let mut stream = UnixStream::connect(&at).await.unwrap();
                let factor = number as u8;
                stream.write_all(&[factor]).await.unwrap();
                let mut got = Vec::new();
                stream.read_to_end(&mut got).await.unwrap();
                assert_eq!(got.len(), ANSWER);
                let right = |(at, &byte): (usize, &u8)| byte == (at as u8).wrapping_mul(factor);
                assert!(got.iter().enumerate().all(right), "client {number}");
            })
        };
        join_all((0..CLIENTS).map(client)).await;
        server.await.unwrap();
    });
    std::fs::remove_file(path).unwrap();
}
