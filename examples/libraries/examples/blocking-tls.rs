//! rustls' own blocking `Stream`, unchanged, in tasks with a stack.
//!
//! A handshake waits inside of rustls, in the task of its connection and under its color.

use colored_libraries::{Failure, SelfSigned};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection, Stream};
use stackful::net::{TcpListener, TcpStream};
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::sync::Arc;

#[colored::main]
async fn main() -> Result<(), Failure> {
    let tls = SelfSigned::new()?;
    let (server, client) = (Arc::new(tls.server("shout")?), Arc::new(tls.client("shout")?));
    let listener = colored::net::TcpListener::bind("127.0.0.1:0").await?;
    let addr = listener.local_addr()?;
    let accepts = stackful::spawn_unique(move || {
        for stream in TcpListener::from(listener).incoming().map_while(Result::ok) {
            let config = server.clone();
            drop(stackful::spawn_unique(move || shout(stream, config)));
        }
    });
    for line in stackful::spawn_unique(move || talk(addr, client)).await?? {
        println!("{line}");
    }
    accepts.abort();
    Ok(())
}

fn talk(addr: SocketAddr, config: Arc<ClientConfig>) -> Result<Vec<String>, Failure> {
    let mut socket = TcpStream::connect(addr)?;
    let mut connection = ClientConnection::new(config, ServerName::try_from("localhost")?)?;
    let mut stream = BufReader::new(Stream::new(&mut connection, &mut socket));
    let mut lines = Vec::new();
    for line in ["hello", "over tls"] {
        writeln!(stream.get_mut(), "{line}")?;
        let mut answer = String::new();
        stream.read_line(&mut answer)?;
        lines.push(answer.trim_end().to_owned());
    }
    let suite = connection.negotiated_cipher_suite().map(|suite| suite.suite());
    lines.insert(0, format!("the cipher is {suite:?}"));
    connection.send_close_notify();
    connection.complete_io(&mut socket)?;
    Ok(lines)
}

fn shout(mut socket: TcpStream, config: Arc<ServerConfig>) -> Result<(), Failure> {
    let mut connection = ServerConnection::new(config)?;
    let mut stream = BufReader::new(Stream::new(&mut connection, &mut socket));
    let mut line = String::new();
    while stream.read_line(&mut line)? > 0 {
        stream.get_mut().write_all(line.to_uppercase().as_bytes())?;
        line.clear();
    }
    Ok(())
}
