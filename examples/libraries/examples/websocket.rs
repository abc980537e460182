//! tokio-tungstenite on our own sockets: no feature, no tokio runtime.
//!
//! Each connection is a task under a color of its own. The number of messages lies in a cell that all of them call.

use colored::net::{TcpListener, TcpStream};
use colored::task::JoinSet;
use colored::{Color, ColorCell, spawn_unique};
use colored_libraries::Failure;
use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{accept_async, client_async};

#[colored::main]
async fn main() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let addr = listener.local_addr()?;
    let messages = ColorCell::new(Color::named("messages"), 0);
    let count = messages.clone();
    let server = spawn_unique(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(spawn_unique(shout(stream, count.clone())));
        }
    });

    let mut clients = JoinSet::new();
    for client in 0..4 {
        clients.spawn_unique(async move {
            let stream = TcpStream::connect(addr).await?;
            let (mut socket, _) = client_async(format!("ws://{addr}/"), stream).await?;
            let mut last = None;
            for n in 0..10 {
                socket.send(Message::text(format!("client {client}, message {n}"))).await?;
                last = socket.next().await.transpose()?;
            }
            socket.close(None).await?;
            Ok::<_, Failure>(last.map(|last| last.to_string()).unwrap_or_default())
        });
    }
    let mut answers = Vec::new();
    while let Some(answer) = clients.join_next().await {
        answers.push(answer??);
    }
    answers.sort_unstable();
    println!("{}", answers.join("\n"));
    println!("{} messages", messages.call(|count| *count).await);
    server.abort();
    Ok(())
}

async fn shout(stream: TcpStream, count: ColorCell<u32>) -> Result<(), Error> {
    let mut socket = accept_async(stream).await?;
    while let Some(message) = socket.next().await {
        let Message::Text(text) = message? else { continue };
        count.call(|count| *count += 1).await;
        socket.send(Message::text(text.to_uppercase())).await?;
    }
    Ok(())
}
