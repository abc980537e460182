//! Echoes bytes over TCP. Each connection has a color of its own, so connections run in parallel.
//!
//! ```text
//! cargo run --release -p colored-examples --example echo -- [--addr HOST:PORT]
//! ```
//!
//! Ctrl-C stops it: it accepts no more, and waits 5 seconds for the connections.

use colored::io::copy;
use colored::io::named;
use colored::net::{TcpListener, TcpStream};
use colored::task::JoinSet;
use colored_examples::{Args, Failure, asked_to_stop, finish};
use std::io;
use std::pin::pin;

#[colored::main]
async fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line("echo [--addr HOST:PORT]");
    let addr = args.value("--addr", "an address and a port, such as 127.0.0.1:7000")?;
    args.end()?;

    let listener = named(TcpListener::bind(addr.unwrap_or(String::from("127.0.0.1:7000")))).await?;
    let addr = listener.local_addr()?;
    let mut stop = pin!(asked_to_stop()?);
    println!("listening on {addr}; try: nc {} {}", addr.ip(), addr.port());
    let mut connections = JoinSet::new();
    loop {
        colored::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    connections.spawn_unique(async move {
                        if let Err(error) = echo(stream).await {
                            eprintln!("{peer}: {error}");
                        }
                    });
                }
                // A lack of descriptors; the listener waits a while before the next attempt.
                Err(error) => eprintln!("{error}"),
            },
            Some(_) = connections.join_next() => {}
            () = &mut stop => break,
        }
    }
    drop(listener);
    finish(connections).await;
    Ok(())
}

async fn echo(mut stream: TcpStream) -> io::Result<u64> {
    let (mut read, mut write) = stream.split();
    copy(&mut read, &mut write).await
}
