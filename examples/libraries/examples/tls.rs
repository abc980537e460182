//! tokio-rustls on our own sockets: no feature, no tokio runtime.
//!
//! The handshake runs in the task of its connection, under the color of the connection: a slow one delays no other.

use colored::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use colored::net::{TcpListener, TcpStream};
use colored::spawn_unique;
use colored_libraries::{Failure, SelfSigned};
use rustls::pki_types::ServerName;
use std::sync::Arc;
use tokio_rustls::{TlsAcceptor, TlsConnector};

#[colored::main]
async fn main() -> Result<(), Failure> {
    let tls = SelfSigned::new()?;
    let acceptor = TlsAcceptor::from(Arc::new(tls.server("shout")?));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let addr = listener.local_addr()?;
    drop(spawn_unique(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            drop(spawn_unique(async move { shout(acceptor, stream).await }));
        }
    }));

    let connector = TlsConnector::from(Arc::new(tls.client("shout")?));
    let stream = TcpStream::connect(addr).await?;
    let stream = connector.connect(ServerName::try_from("localhost")?, stream).await?;
    let suite = stream.get_ref().1.negotiated_cipher_suite().map(|suite| suite.suite());
    println!("the cipher is {suite:?}");
    let mut stream = BufReader::new(stream);
    for line in ["hello", "over tls"] {
        stream.write_all(format!("{line}\n").as_bytes()).await?;
        let mut answer = String::new();
        stream.read_line(&mut answer).await?;
        print!("{answer}");
    }
    stream.shutdown().await?;
    Ok(())
}

async fn shout(acceptor: TlsAcceptor, stream: TcpStream) -> std::io::Result<()> {
    let mut stream = BufReader::new(acceptor.accept(stream).await?);
    let mut line = String::new();
    while stream.read_line(&mut line).await? > 0 {
        stream.write_all(line.to_uppercase().as_bytes()).await?;
        stream.flush().await?;
        line.clear();
    }
    stream.shutdown().await
}
