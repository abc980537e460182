//! quinn, which finds tokio's runtime. The example `quic-own-sockets` gives it our sockets.

use super::EACH;
use crate::support::in_colors;
use colored::spawn_unique;
use colored::sync::Barrier;
use colored_libraries::SelfSigned;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, ConnectionError, Endpoint, ServerConfig};
use std::sync::Arc;

/// A server that echoes each stream, a client, and a connection between them.
async fn connect() -> (Endpoint, Endpoint, Connection) {
    let tls = SelfSigned::new().unwrap();
    let crypto = Arc::new(QuicServerConfig::try_from(tls.server("echo").unwrap()).unwrap());
    let any = "127.0.0.1:0".parse().unwrap();
    let server = Endpoint::server(ServerConfig::with_crypto(crypto), any).unwrap();
    let accepting = server.clone();
    drop(spawn_unique(async move {
        while let Some(incoming) = accepting.accept().await {
            let Ok(connection) = incoming.await else { continue };
            drop(spawn_unique(echo(connection)));
        }
    }));
    let mut client = Endpoint::client(any).unwrap();
    let crypto = Arc::new(QuicClientConfig::try_from(tls.client("echo").unwrap()).unwrap());
    client.set_default_client_config(ClientConfig::new(crypto));
    let addr = server.local_addr().unwrap();
    let connection = client.connect(addr, "localhost").unwrap().await.unwrap();
    (server, client, connection)
}

async fn echo(connection: Connection) {
    while let Ok((mut send, mut receive)) = connection.accept_bi().await {
        drop(spawn_unique(async move {
            let Ok(request) = receive.read_to_end(100).await else { return };
            send.write_all(&request).await.unwrap();
            send.finish().unwrap();
        }));
    }
}

/// Sends a request on a stream of its own, and waits for its echo.
async fn ask(connection: &Connection, request: &str) {
    let (mut send, mut receive) = connection.open_bi().await.unwrap();
    send.write_all(request.as_bytes()).await.unwrap();
    send.finish().unwrap();
    assert_eq!(receive.read_to_end(100).await.unwrap(), request.as_bytes());
}

pub(super) async fn many() -> u64 {
    let (server, client, connection) = connect().await;
    let visits = in_colors(10, 2, |witness, task| {
        let connection = connection.clone();
        async move {
            for n in 0..EACH {
                witness.visit();
                ask(&connection, &format!("task {task}, stream {n}")).await;
                witness.visit();
            }
        }
    });
    let visits = visits.await;
    connection.close(0_u32.into(), b"done");
    client.wait_idle().await;
    server.close(0_u32.into(), b"done");
    server.wait_idle().await;
    visits
}

pub(super) async fn gone() {
    let (server, _client, connection) = connect().await;
    // A server that closes before it has seen the handshake's end may not send its code (RFC 9000, section 10.2.3).
    ask(&connection, "the handshake has ended").await;
    let all_wait = Arc::new(Barrier::new(8));
    let visits = in_colors(4, 2, |witness, _| {
        let (server, connection, all_wait) = (server.clone(), connection.clone(), all_wait.clone());
        async move {
            let (_send, mut receive) = connection.open_bi().await.unwrap();
            all_wait.wait().await;
            server.close(0_u32.into(), b"gone");
            receive.read_to_end(100).await.unwrap_err();
            witness.visit();
            let error = connection.open_bi().await.unwrap_err();
            assert!(matches!(error, ConnectionError::ApplicationClosed(_)), "{error:?}");
            witness.visit();
        }
    });
    assert_eq!(visits.await, 16);
}
