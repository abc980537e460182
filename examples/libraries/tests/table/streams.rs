//! tokio-tungstenite and tokio-rustls, on our own sockets.

use super::EACH;
use crate::support::in_colors;
use colored::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use colored::net::{TcpListener, TcpStream};
use colored::spawn_unique;
use colored_libraries::SelfSigned;
use futures_util::{SinkExt, StreamExt};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ServerConfig};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async, client_async};

/// Serves each connection in a task of its own.
async fn listen<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(spawn_unique(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(spawn_unique(serve(stream)));
        }
    }));
    addr
}

/// Answers so many messages, and goes away in the middle of the connection.
async fn shout_messages(stream: TcpStream, times: u64) {
    let mut socket = accept_async(stream).await.unwrap();
    for _ in 0..times {
        let Some(Ok(Message::Text(text))) = socket.next().await else { return };
        socket.send(Message::text(text.to_uppercase())).await.unwrap();
    }
}

async fn connect(addr: SocketAddr) -> WebSocketStream<TcpStream> {
    let stream = TcpStream::connect(addr).await.unwrap();
    client_async(format!("ws://{addr}/"), stream).await.unwrap().0
}

async fn say(socket: &mut WebSocketStream<TcpStream>, task: u64, n: u64) {
    socket.send(Message::text(format!("task {task}, message {n}"))).await.unwrap();
    let answer = socket.next().await.unwrap().unwrap();
    assert_eq!(answer, Message::text(format!("TASK {task}, MESSAGE {n}")));
}

pub(super) async fn websockets() -> u64 {
    let addr = listen(|stream| shout_messages(stream, u64::MAX)).await;
    let visits = in_colors(10, 2, |witness, task| async move {
        let mut socket = connect(addr).await;
        for n in 0..EACH {
            say(&mut socket, task, n).await;
            witness.visit();
        }
        socket.close(None).await.unwrap();
    });
    visits.await
}

pub(super) async fn websocket_gone() {
    let addr = listen(|stream| shout_messages(stream, 3)).await;
    let visits = in_colors(4, 2, |witness, task| async move {
        let mut socket = connect(addr).await;
        for n in 0..3 {
            say(&mut socket, task, n).await;
        }
        socket.next().await.unwrap().unwrap_err();
        witness.visit();
    });
    assert_eq!(visits.await, 8);
}

/// As [`shout_messages`], of lines over TLS.
async fn shout_lines(config: Arc<ServerConfig>, stream: TcpStream, times: u64) {
    let stream = TlsAcceptor::from(config).accept(stream).await.unwrap();
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    for _ in 0..times {
        line.clear();
        if stream.read_line(&mut line).await.unwrap() == 0 {
            return;
        }
        stream.write_all(line.to_uppercase().as_bytes()).await.unwrap();
        stream.flush().await.unwrap();
    }
}

/// A server that answers so many lines, and what its clients need.
async fn over_tls(times: u64) -> (SocketAddr, Arc<ClientConfig>) {
    let tls = SelfSigned::new().unwrap();
    let server = Arc::new(tls.server("shout").unwrap());
    let addr = listen(move |stream| shout_lines(server.clone(), stream, times)).await;
    (addr, Arc::new(tls.client("shout").unwrap()))
}

type Lines = BufReader<TlsStream<TcpStream>>;

async fn connect_over_tls(addr: SocketAddr, config: Arc<ClientConfig>) -> Lines {
    let stream = TcpStream::connect(addr).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    BufReader::new(TlsConnector::from(config).connect(name, stream).await.unwrap())
}

async fn say_line(stream: &mut Lines, task: u64, n: u64) {
    stream.write_all(format!("task {task}, line {n}\n").as_bytes()).await.unwrap();
    stream.flush().await.unwrap();
    let mut answer = String::new();
    stream.read_line(&mut answer).await.unwrap();
    assert_eq!(answer, format!("TASK {task}, LINE {n}\n"));
}

pub(super) async fn tls() -> u64 {
    let (addr, config) = over_tls(u64::MAX).await;
    let visits = in_colors(10, 2, |witness, task| {
        let config = config.clone();
        async move {
            let mut stream = connect_over_tls(addr, config).await;
            for n in 0..EACH {
                say_line(&mut stream, task, n).await;
                witness.visit();
            }
            stream.shutdown().await.unwrap();
        }
    });
    visits.await
}

/// An end without TLS's notice might be that of an attacker.
pub(super) async fn tls_gone() {
    let (addr, config) = over_tls(3).await;
    let visits = in_colors(4, 2, |witness, task| {
        let config = config.clone();
        async move {
            let mut stream = connect_over_tls(addr, config).await;
            for n in 0..3 {
                say_line(&mut stream, task, n).await;
            }
            stream.read_line(&mut String::new()).await.unwrap_err();
            witness.visit();
        }
    });
    assert_eq!(visits.await, 8);
}
