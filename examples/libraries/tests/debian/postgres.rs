//! PostgreSQL, by tokio-postgres.

use super::program::find;
use super::server::Server;
use crate::support::{alone, in_colors, with_tokio};
use colored::net::TcpStream;
use colored::sync::Barrier;
use colored::time::{Duration, sleep};
use colored::{spawn_blocking, spawn_unique};
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_postgres::{Client, Error, NoTls};

/// A new database, if it is installed.
pub(super) fn server() -> Option<Server> {
    find("postgres", "postgresql")?;
    Some(Server::new("QUIT", prepare, |dir, port| {
        let mut postgres = command("postgres", dir);
        postgres.arg(format!("--port={port}")).args(["-D", "data"]);
        postgres.args([
            "--listen-addresses=127.0.0.1",
            "--unix-socket-directories=",
            "--fsync=off",
        ]);
        postgres
    }))
}

fn prepare(dir: &Path) {
    // The database refuses to be run by root.
    if dir.metadata().unwrap().uid() == 0 {
        chown(dir, Some(id_of_postgres("-u")), Some(id_of_postgres("-g"))).unwrap();
    }
    let mut initdb = command("initdb", dir);
    initdb.args(["-D", "data", "--username=postgres", "--auth=trust", "--no-sync"]);
    let output = initdb.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A program of PostgreSQL, in this directory and by its owner.
fn command(name: &str, dir: &Path) -> Command {
    let owner = dir.metadata().unwrap();
    let mut command = Command::new(find(name, "postgresql").unwrap());
    command.current_dir(dir).uid(owner.uid()).gid(owner.gid());
    command
}

fn id_of_postgres(kind: &str) -> u32 {
    let output = Command::new("id").args([kind, "postgres"]).output().unwrap();
    let id = String::from_utf8(output.stdout).unwrap();
    id.trim().parse().expect("Debian's package has made a user `postgres`")
}

fn config(addr: SocketAddr) -> String {
    format!("host={} port={} user=postgres", addr.ip(), addr.port())
}

/// A connection, as soon as the server takes one.
async fn connect(addr: SocketAddr) -> Client {
    loop {
        if let Ok((client, connection)) = tokio_postgres::connect(&config(addr), NoTls).await {
            drop(spawn_unique(connection));
            return client;
        }
        sleep(Duration::from_millis(10)).await;
    }
}

async fn square(client: &Client, n: i64) -> Result<i64, Error> {
    Ok(client.query_one("select $1::int8 * $1", &[&n]).await?.get(0))
}

#[test]
fn ten_thousand_queries_with_a_restart_in_the_middle() {
    const HALF: u64 = 250;
    let Some(mut server) = server() else { return };
    with_tokio(async move {
        let addr = server.addr();
        let answered = Arc::new(AtomicU64::new(0));
        let half = Arc::new(Barrier::new(21));
        let sleeper = connect(addr).await;
        let sleeping =
            spawn_unique(async move { sleeper.execute("select pg_sleep(3600)", &[]).await });

        let middle = half.clone();
        let restart = spawn_unique(async move {
            middle.wait().await;
            let restart = spawn_blocking(move || {
                server.stop();
                server.start_again();
                server
            });
            restart.await.unwrap()
        });
        let count = answered.clone();
        let visits = in_colors(10, 2, move |witness, task| {
            let (answered, half) = (count.clone(), half.clone());
            async move {
                let answer = async |client: &Client, n: u64| {
                    let square = square(client, n as i64).await;
                    witness.visit();
                    assert_eq!(square.unwrap(), (n * n) as i64);
                    answered.fetch_add(1, Ordering::Relaxed);
                };
                let client = connect(addr).await;
                for n in 0..HALF {
                    answer(&client, task + n).await;
                }
                half.wait().await;
                // An error, and not a query that never returns.
                while square(&client, 1).await.is_ok() {
                    witness.visit();
                }
                witness.visit();
                let client = connect(addr).await;
                for n in 0..HALF {
                    answer(&client, task + n).await;
                }
            }
        });
        assert!(visits.await >= 20 * (2 * HALF + 1));
        assert_eq!(answered.load(Ordering::Relaxed), 10_000);
        sleeping.await.unwrap().unwrap_err();
        drop(restart.await.unwrap());
    });
}

/// Without the feature, and many colors on one connection.
#[test]
fn a_thousand_queries_on_a_socket_of_ours() {
    let Some(server) = server() else { return };
    let addr = server.addr();
    with_tokio(async move { drop(connect(addr).await) });
    alone(async move {
        let socket = TcpStream::connect(addr).await.unwrap();
        let config: tokio_postgres::Config = config(addr).parse().unwrap();
        let (client, connection) = config.connect_raw(socket, NoTls).await.unwrap();
        drop(spawn_unique(connection));
        let client = Arc::new(client);
        let visits = in_colors(10, 2, |witness, task| {
            let client = client.clone();
            async move {
                for n in task..task + 50 {
                    let square = square(&client, n as i64).await;
                    witness.visit();
                    assert_eq!(square.unwrap(), (n * n) as i64);
                }
            }
        });
        assert_eq!(visits.await, 1000);
    });
}
