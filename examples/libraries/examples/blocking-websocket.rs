//! tungstenite's blocking server and client, unchanged, in tasks with a stack.
//!
//! Each connection is a task under a color of its own, and none has a thread. The number of messages lies in a cell that
//! all of them call, and wait for in the middle of what looks like blocking code.

use colored::{Color, ColorCell};
use colored_libraries::Failure;
use stackful::net::{TcpListener, TcpStream};
use std::net::SocketAddr;
use tungstenite::{Error, Message};

const CLIENTS: usize = 200;
const MESSAGES: usize = 10;

#[colored::main]
async fn main() -> Result<(), Failure> {
    let listener = colored::net::TcpListener::bind("127.0.0.1:0").await?;
    let addr = listener.local_addr()?;
    let messages = ColorCell::new(Color::named("messages"), 0);
    let count = messages.clone();
    let server = stackful::spawn_unique(move || {
        for stream in TcpListener::from(listener).incoming().map_while(Result::ok) {
            let count = count.clone();
            drop(stackful::spawn_unique(move || shout(stream, &count)));
        }
    });

    let clients: Vec<_> =
        (0..CLIENTS).map(|client| stackful::spawn_unique(move || talk(addr, client))).collect();
    let mut last = String::new();
    for client in clients {
        last = client.await??;
    }
    println!("{last}");
    println!("{} messages", messages.call(|count| *count).await);
    server.abort();
    Ok(())
}

fn talk(addr: SocketAddr, client: usize) -> Result<String, Failure> {
    let stream = TcpStream::connect(addr)?;
    let (mut socket, _) = tungstenite::client(format!("ws://{addr}/"), stream)?;
    let mut last = String::new();
    for n in 0..MESSAGES {
        socket.send(Message::text(format!("client {client}, message {n}")))?;
        last = socket.read()?.to_string();
    }
    socket.close(None)?;
    // The answer to the close.
    while socket.read().is_ok() {}
    Ok(last)
}

fn shout(stream: TcpStream, count: &ColorCell<usize>) -> Result<(), Failure> {
    let mut socket = tungstenite::accept(stream)?;
    loop {
        let text = match socket.read() {
            Ok(Message::Text(text)) => text,
            Ok(_) => continue,
            Err(Error::ConnectionClosed) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        stackful::wait(count.call(|count| *count += 1));
        socket.send(Message::text(text.to_uppercase()))?;
    }
}
