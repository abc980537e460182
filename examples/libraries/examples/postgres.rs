//! tokio-postgres: one connection, with queries of many colors on their way at once.
//!
//! ```text
//! cargo run --example postgres -- "host=127.0.0.1 user=postgres"
//! ```
//!
//! The driver returns a client and the future of the connection. That future is a task of ours under a color of its own,
//! in place of `tokio::spawn`. With the feature the driver opens a socket of tokio's; `connect_raw` takes a socket of
//! ours, and then nothing of tokio's runtime is needed.

use colored::task::JoinSet;
use colored::{Color, net::TcpStream, spawn_unique};
use colored_libraries::{Failure, argument_or};
use tokio_postgres::config::{Config, Host};
use tokio_postgres::{Client, NoTls};

#[colored::main(tokio)]
async fn main() -> Result<(), Failure> {
    let config: Config = argument_or("host=127.0.0.1 user=postgres").parse()?;
    let (client, connection) = config.connect(NoTls).await?;
    drop(spawn_unique(connection));

    let client = std::sync::Arc::new(client);
    let mut rows = JoinSet::new();
    for n in 0..8_i64 {
        let client = client.clone();
        rows.spawn_colored(Color::of(n), async move { square(&client, n).await });
    }
    let mut sum = 0;
    while let Some(square) = rows.join_next().await {
        sum += square??;
    }
    println!("8 queries on tokio's socket: the squares have the sum {sum}");

    println!("a query on a socket of ours: the square of 9 is {}", on_our_socket(&config).await?);
    Ok(())
}

async fn square(client: &Client, n: i64) -> Result<i64, tokio_postgres::Error> {
    Ok(client.query_one("select $1::int8 * $1", &[&n]).await?.get(0))
}

async fn on_our_socket(config: &Config) -> Result<i64, Failure> {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        _ => return Err(Failure::new("expected a host, as in host=127.0.0.1")),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432);
    let socket = TcpStream::connect((host, port)).await?;
    let (client, connection) = config.connect_raw(socket, NoTls).await?;
    drop(spawn_unique(connection));
    Ok(square(&client, 9).await?)
}
