//! quinn: QUIC, with a color for each stream in place of one for each connection.
//!
//! quinn finds tokio's runtime and uses its UDP socket and timers; its drivers are tasks of tokio. The handlers of the
//! streams are tasks of ours.

use colored::task::JoinSet;
use colored::{Color, spawn_unique};
use colored_libraries::{Failure, SelfSigned};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, Endpoint, ServerConfig};
use std::sync::Arc;

const MOST: usize = 64 * 1024;

#[colored::main(tokio)]
async fn main() -> Result<(), Failure> {
    let tls = SelfSigned::new()?;
    let config = QuicServerConfig::try_from(tls.server("echo")?)?;
    let config = ServerConfig::with_crypto(Arc::new(config));
    let server = Endpoint::server(config, "127.0.0.1:0".parse()?)?;
    let addr = server.local_addr()?;
    let accepting = server.clone();
    drop(spawn_unique(async move {
        while let Some(incoming) = accepting.accept().await {
            if let Ok(connection) = incoming.await {
                drop(spawn_unique(echo(connection)));
            }
        }
    }));

    let mut client = Endpoint::client("127.0.0.1:0".parse()?)?;
    let config = QuicClientConfig::try_from(tls.client("echo")?)?;
    client.set_default_client_config(ClientConfig::new(Arc::new(config)));
    let connection = client.connect(addr, "localhost")?.await?;
    let mut streams = JoinSet::new();
    for stream in 0..8_u64 {
        let connection = connection.clone();
        streams.spawn_colored(Color::of(stream), async move {
            let (mut send, mut receive) = connection.open_bi().await?;
            send.write_all(format!("stream {stream}").as_bytes()).await?;
            send.finish()?;
            let answer = receive.read_to_end(MOST).await?;
            Ok::<_, Failure>(String::from_utf8(answer)?)
        });
    }
    let mut answers = Vec::new();
    while let Some(answer) = streams.join_next().await {
        answers.push(answer??);
    }
    answers.sort_unstable();
    println!("{}", answers.join("\n"));

    connection.close(0_u32.into(), b"done");
    client.wait_idle().await;
    server.close(0_u32.into(), b"done");
    server.wait_idle().await;
    println!("client and server have closed");
    Ok(())
}

async fn echo(connection: Connection) {
    while let Ok((mut send, mut receive)) = connection.accept_bi().await {
        drop(spawn_unique(async move {
            let request = receive.read_to_end(MOST).await?;
            send.write_all(&request).await?;
            send.finish()?;
            Ok::<_, Failure>(())
        }));
    }
}
