//! Connections for tests.

use std::net::SocketAddr;

use super::{TcpListener, TcpStream};
pub(crate) use crate::driver::testing::{World, run};

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
