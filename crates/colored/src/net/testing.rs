//! Connections for tests, and the checks that every kind of connection has to pass.

use std::net::SocketAddr;

use super::{TcpListener, TcpStream};
use crate::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
pub(crate) use crate::services::testing::{World, run};

/// A listener on a port of its own.
pub(crate) async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    (listener, addr)
}

/// Two ends of one connection.
pub(crate) async fn pair() -> (TcpStream, TcpStream) {
    let (listener, addr) = listen().await;
    let (client, accepted) = tokio::join!(TcpStream::connect(addr), listener.accept());
    (client.unwrap(), accepted.unwrap().0)
}

/// Checks that bytes go both ways.
pub(super) async fn check_echo<S: AsyncRead + AsyncWrite + Unpin>(mut client: S, mut server: S) {
    for size in [1, 100, 10_000] {
        let sent = vec![7; size];
        client.write_all(&sent).await.unwrap();
        let mut got = vec![0; size];
        server.read_exact(&mut got).await.unwrap();
        server.write_all(&got).await.unwrap();
        client.read_exact(&mut got).await.unwrap();
        assert_eq!(got, sent);
    }
}

/// Checks that an end that has shut down its direction still receives the answer.
pub(super) async fn check_answer_after_shutdown<S: AsyncRead + AsyncWrite + Unpin>(
    mut client: S,
    mut server: S,
) {
    client.write_all(b"question").await.unwrap();
    client.shutdown().await.unwrap();
    let mut question = String::new();
    server.read_to_string(&mut question).await.unwrap();
    server.write_all(b"answer").await.unwrap();
    drop(server);
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    assert_eq!((question.as_str(), answer.as_str()), ("question", "answer"));
}
