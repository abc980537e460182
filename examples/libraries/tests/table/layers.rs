//! tower-http's layers on our server. The time limit is a timer of tokio's; the other layers need nothing of it.

use super::EACH;
use crate::support::in_colors;
use axum::Router;
use axum::http::{Response, StatusCode};
use axum::routing::get;
use colored::net::TcpListener;
use colored::spawn;
use colored_hyper::{serve, tower};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tower_http::compression::CompressionLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;

const PAGE: &str = "all work and no play makes a dull page. ";
const TIMES: usize = 40;

/// The server's address, and how many responses a layer has seen.
async fn server(limit: Duration) -> (String, Arc<AtomicU64>) {
    let responses = Arc::new(AtomicU64::new(0));
    let count = responses.clone();
    let count = move |_: &Response<_>, _: Duration, _: &tracing::Span| {
        count.fetch_add(1, Ordering::Relaxed);
    };
    let router = Router::new()
        .route("/long", get(async || PAGE.repeat(TIMES)))
        .route("/slow", get(std::future::pending::<()>))
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, limit))
        .layer(CompressionLayer::new())
        .layer(TraceLayer::new_for_http().on_response(count));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(spawn(serve(listener, tower(router)).into_future()));
    (url, responses)
}

pub(super) async fn many() -> u64 {
    let (url, responses) = server(Duration::from_secs(200)).await;
    let client = reqwest::Client::new();
    let visits = in_colors(10, 2, |witness, task| {
        let ask = client.get(format!("{url}/long"));
        async move {
            for n in 0..EACH {
                let ask = ask.try_clone().unwrap();
                let is_small = (task + n) % 2 == 0;
                let ask = if is_small { ask.header("accept-encoding", "gzip") } else { ask };
                let body = ask.send().await.unwrap().bytes().await.unwrap();
                witness.visit();
                match is_small {
                    true => assert!(body.starts_with(b"\x1f\x8b") && body.len() < 200, "{body:?}"),
                    false => assert_eq!(body, PAGE.repeat(TIMES)),
                }
            }
        }
    });
    let visits = visits.await;
    assert_eq!(responses.load(Ordering::Relaxed), 1_000);
    visits
}

/// The handler goes away: it answers nothing, and the layer does in its place.
pub(super) async fn gone() {
    let (url, responses) = server(Duration::from_millis(50)).await;
    let client = reqwest::Client::new();
    let visits = in_colors(4, 2, |witness, _| {
        let ask = client.get(format!("{url}/slow"));
        async move {
            assert_eq!(ask.send().await.unwrap().status(), 408);
            witness.visit();
        }
    });
    assert_eq!(visits.await, 8);
    assert_eq!(responses.load(Ordering::Relaxed), 8);
}
