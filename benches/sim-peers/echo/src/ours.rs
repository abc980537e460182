//! The hosts on `colored`.

use crate::http::{ask, echo};
use colored::net::{TcpListener, TcpStream};
use colored::sim::Builder;
use colored::spawn_unique;
use hyper::client::conn::http1 as client;
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;

async fn serve() {
    let listener = TcpListener::bind("0.0.0.0:80").await.expect("the port is free");
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        // The client leaves at the end.
        drop(spawn_unique(server::Builder::new().serve_connection(stream, service_fn(echo))));
    }
}

pub(crate) fn run(seeds: u64) {
    let builder = Builder::new().seeds(1..1 + seeds).max_turns(10_000_000).host("server", serve);
    let report = builder.run(|| async {
        let stream = TcpStream::connect("server:80").await.expect("the server is there");
        let (sender, connection) = client::handshake(stream).await.expect("no word is exchanged");
        drop(spawn_unique(connection));
        ask(sender).await;
    });
    report.assert_passed();
}
