//! A tiny origin, so that the proxy can be tried without a network.

use crate::wire::read_head;
use colored::io::AsyncWriteExt;
use colored::net::{TcpListener, TcpStream};
use colored::{Color, ColorCell};
use std::io;
use std::net::SocketAddr;

/// A server of made-up pages, and how many it has served.
pub(crate) struct Origin {
    pub(crate) addr: SocketAddr,
    pub(crate) served: ColorCell<usize>,
}

impl Origin {
    pub(crate) async fn start() -> io::Result<Origin> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let addr = listener.local_addr()?;
        let served = ColorCell::new(Color::unique(), 0);
        let count = served.clone();
        colored::spawn_unique(async move {
            while let Ok((client, _)) = listener.accept().await {
                count.post(|served| *served += 1);
                colored::spawn_unique(answer(client));
            }
        });
        Ok(Origin { addr, served })
    }
}

async fn answer(mut client: TcpStream) -> io::Result<()> {
    let head = read_head(&mut client).await?;
    let head = String::from_utf8_lossy(&head);
    let path = head.split(' ').nth(1).unwrap_or_default();
    client.write_all(page(path).as_bytes()).await?;
    client.shutdown().await
}

/// The page at `path`, head and all.
pub(crate) fn page(path: &str) -> String {
    let body = format!("This is {path}.\n").repeat(100) + "Paid for by ads-7.example.\n";
    format!("HTTP/1.0 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}
