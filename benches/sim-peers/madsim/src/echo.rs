//! The echo over hyper of the package `colored-echo-peers`: its hosts on madsim.

use crate::http::{ask, echo};
use crate::stream::Stream;
use hyper::client::conn::http1 as client;
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use madsim::net::{TcpListener, TcpStream};
use madsim::runtime::Runtime;
use madsim::time::{Duration, sleep};

async fn serve() {
    let listener = TcpListener::bind("10.0.0.1:80").await.expect("the port is free");
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        let connection = server::Builder::new();
        let connection =
            connection.serve_connection(TokioIo::new(Stream::new(stream)), service_fn(echo));
        drop(madsim::task::spawn(connection));
    }
}

async fn request() {
    let stream = loop {
        match TcpStream::connect("10.0.0.1:80").await {
            Ok(stream) => break stream,
            // The server has not begun.
            Err(_) => sleep(Duration::from_millis(1)).await,
        }
    };
    let (sender, connection) =
        client::handshake(TokioIo::new(Stream::new(stream))).await.expect("no word is exchanged");
    drop(madsim::task::spawn(connection));
    ask(sender).await;
}

pub(crate) fn run(seeds: u64) {
    for seed in 1..1 + seeds {
        let runtime = Runtime::with_seed_and_config(seed, madsim::Config::default());
        let node = |last| runtime.create_node().ip([10, 0, 0, last].into()).build();
        let (server, client) = (node(1), node(2));
        drop(server.spawn(serve()));
        runtime.block_on(client.spawn(request())).expect("all requests are answered");
    }
}
