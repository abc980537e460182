//! reqwest.

use super::EACH;
use crate::support::{in_colors, with_tokio};
use axum::Router;
use axum::extract::Path;
use axum::routing::get;
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::TcpListener;
use colored::{Color, ColorCell, spawn, spawn_unique};
use colored_hyper::{serve, tower};

pub(super) async fn many() -> u64 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let served = ColorCell::new(Color::named("served"), 0);
    let count = served.clone();
    let echo = async move |Path(n): Path<u64>| {
        count.call(|count| *count += 1).await;
        n.to_string()
    };
    let server = serve(listener, tower(Router::new().route("/{n}", get(echo))));
    drop(spawn(server.into_future()));

    let client = reqwest::Client::new();
    let visits = in_colors(10, 2, |witness, task| {
        let (client, url) = (client.clone(), url.clone());
        async move {
            for n in task * EACH..(task + 1) * EACH {
                let answer = client.get(format!("{url}/{n}")).send().await.unwrap();
                witness.visit();
                assert_eq!(answer.text().await.unwrap(), n.to_string());
                witness.visit();
            }
        }
    });
    let visits = visits.await;
    assert_eq!(served.call(|count| *count).await, 20 * EACH);
    visits
}

pub(super) async fn gone() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // The first gets no answer, the second a part of one.
    let server = spawn_unique(async move {
        drop(listener.accept().await.unwrap());
        let (mut stream, _) = listener.accept().await.unwrap();
        // What is left unread when a socket is closed makes the system take back what was written.
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart").await.unwrap();
    });
    let client = reqwest::Client::new();
    let color = Color::new(3);
    let asking = colored::spawn_colored(color, async move {
        let error = client.post(&url).send().await.unwrap_err();
        assert!(error.is_request(), "{error:?}");
        let answer = client.post(&url).send().await.unwrap();
        let error = answer.text().await.unwrap_err();
        assert!(error.is_body() || error.is_decode(), "{error:?}");
        server.await.unwrap();
        let error = client.post(&url).send().await.unwrap_err();
        assert!(error.is_connect(), "{error:?}");
        assert_eq!(Color::current(), Some(color));
    });
    asking.await.unwrap();
}

/// The client's own time limit is a timer of tokio's.
#[test]
fn a_server_that_is_silent_is_an_error_after_the_time_limit() {
    with_tokio(async {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let limit = std::time::Duration::from_millis(50);
        let client = reqwest::Client::builder().timeout(limit).build().unwrap();
        let error = client.get(url).send().await.unwrap_err();
        assert!(error.is_timeout(), "{error:?}");
        drop(listener);
    });
}
