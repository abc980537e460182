//! Chat rooms over TCP, a color for each room. The first line that a client sends is `ROOM NAME`, each
//! further line is said to everybody in the room, in one order for all.
//!
//! Nothing grows without a bound: a room that has enough to say makes its speakers wait, and a member
//! who does not read is put out.
//!
//! ```text
//! cargo run --release -p colored-examples --example rooms -- [--addr HOST:PORT]
//! ```
//!
//! Ctrl-C stops it: it accepts no more, and waits 5 seconds for the members to leave.

mod hotel;
mod room;
mod wire;

use colored::io::named;
use colored::net::TcpListener;
use colored::task::JoinSet;
use colored_examples::{Args, Failure, asked_to_stop, finish};
use hotel::Hotel;
use std::pin::pin;

#[colored::main]
async fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line("rooms [--addr HOST:PORT]");
    let addr = args.value("--addr", "an address and a port, such as 127.0.0.1:7001")?;
    args.end()?;

    let listener = named(TcpListener::bind(addr.unwrap_or(String::from("127.0.0.1:7001")))).await?;
    let addr = listener.local_addr()?;
    let mut stop = pin!(asked_to_stop()?);
    println!("listening on {addr}; try: nc {} {}, and say: lobby me", addr.ip(), addr.port());
    let hotel = Hotel::default();
    let mut connections = JoinSet::new();
    loop {
        colored::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    let hotel = hotel.clone();
                    // Connections in parallel; the two halves of one take turns.
                    connections.spawn_unique(async move {
                        if let Err(error) = wire::serve(stream, hotel).await {
                            eprintln!("{peer}: {error}");
                        }
                    });
                }
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
