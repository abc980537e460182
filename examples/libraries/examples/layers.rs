//! tower-http's layers on our server: a time limit, compression, and a line for each request.
//!
//! The time limit is a timer of tokio's and needs the feature; the other layers do not.

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use colored::net::TcpListener;
use colored::spawn;
use colored_hyper::{serve, tower};
use colored_libraries::Failure;
use std::io::stdout;
use std::time::Duration;
use tower_http::compression::CompressionLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::{DefaultOnResponse, TraceLayer};
use tracing::Level;

#[colored::main(tokio)]
async fn main() -> Result<(), Failure> {
    tracing_subscriber::fmt().without_time().with_ansi(false).with_writer(stdout).init();
    let limit = Duration::from_millis(100);
    let router = Router::new()
        .route("/long", get(async || "all work and no play makes a dull page. ".repeat(1000)))
        .route("/slow", get(std::future::pending::<()>))
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, limit))
        .layer(CompressionLayer::new())
        .layer(TraceLayer::new_for_http().on_response(DefaultOnResponse::new().level(Level::INFO)));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    drop(spawn(serve(listener, tower(router)).into_future()));

    let client = reqwest::Client::new();
    let plain = client.get(format!("{url}/long")).send().await?.bytes().await?;
    let small = client.get(format!("{url}/long")).header("accept-encoding", "gzip").send().await?;
    println!("{} bytes, {} with gzip", plain.len(), small.bytes().await?.len());
    println!("the slow page: {}", client.get(format!("{url}/slow")).send().await?.status());
    Ok(())
}
