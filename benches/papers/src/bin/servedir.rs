//! A server for static files on tokio, with `ServeDir` of `tower-http`:
//! `servedir <address> <directory> <workers> <keep-alive: on|off>`.

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::error::Error;
use tokio::net::TcpListener;
use tower_http::services::ServeDir;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [address, directory, workers, keep_alive] = words.as_slice() else {
        return Err("usage: servedir <address> <directory> <workers> <keep-alive: on|off>".into());
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers.parse()?)
        .enable_all()
        .build()?;
    runtime.block_on(serve(address, directory, keep_alive == "on"))
}

async fn serve(address: &str, directory: &str, keep_alive: bool) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(address).await?;
    let service = TowerToHyperService::new(ServeDir::new(directory));
    let mut http1 = http1::Builder::new();
    http1.timer(TokioTimer::new()).keep_alive(keep_alive);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let connection = http1.serve_connection(TokioIo::new(stream), service.clone());
        // A client that goes away is no error of the server.
        tokio::spawn(async { drop(connection.await) });
    }
}
