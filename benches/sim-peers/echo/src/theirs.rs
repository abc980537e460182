//! The hosts on turmoil.

use crate::http::{ask, echo};
use hyper::client::conn::http1 as client;
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::time::Duration;
use turmoil::Builder;
use turmoil::net::{TcpListener, TcpStream};

/// `latency` is that of messages, in microseconds.
pub(crate) fn run(seeds: u64, latency: RangeInclusive<u64>) {
    let [least, most] = [latency.start(), latency.end()].map(|us| Duration::from_micros(*us));
    for seed in 1..1 + seeds {
        let mut builder = Builder::new();
        builder.rng_seed(seed).simulation_duration(Duration::from_secs(100_000));
        let mut sim = builder.min_message_latency(least).max_message_latency(most).build();
        sim.host("server", || async {
            let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 80)).await?;
            loop {
                let (stream, _) = listener.accept().await?;
                let stream = TokioIo::new(stream);
                tokio::spawn(server::Builder::new().serve_connection(stream, service_fn(echo)));
            }
        });
        sim.client("client", async {
            let stream = TokioIo::new(TcpStream::connect(("server", 80)).await?);
            let (sender, connection) = client::handshake(stream).await?;
            tokio::spawn(connection);
            ask(sender).await;
            Ok(())
        });
        sim.run().expect("the client ends");
    }
}
