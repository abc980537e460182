//! Echoes bytes over TCP. Each connection has a color of its own, so connections run in parallel.
//!
//! ```text
//! cargo run --release --example echo -- [--addr HOST:PORT]
//! ```

use colored::io::copy;
use colored::net::{TcpListener, TcpStream};
use colored_examples::{Args, Failure};
use std::io;

#[colored::main]
async fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line("echo [--addr HOST:PORT]");
    let addr = args.value("--addr", "an address and a port, such as 127.0.0.1:7000")?;
    args.end()?;

    let listener = TcpListener::bind(addr.unwrap_or(String::from("127.0.0.1:7000"))).await?;
    let addr = listener.local_addr()?;
    println!("listening on {addr}; try: nc {} {}", addr.ip(), addr.port());
    loop {
        // A failure is a lack of descriptors; the listener waits a while before the next attempt.
        match listener.accept().await {
            Ok((stream, peer)) => {
                colored::spawn_unique(async move {
                    if let Err(error) = echo(stream).await {
                        eprintln!("{peer}: {error}");
                    }
                });
            }
            Err(error) => eprintln!("{error}"),
        }
    }
}

async fn echo(mut stream: TcpStream) -> io::Result<u64> {
    let (mut read, mut write) = stream.split();
    copy(&mut read, &mut write).await
}
