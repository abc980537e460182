//! curl, wrk and h2load as clients: of the example `http`, which speaks HTTP/1 alone, and over HTTP/2 of
//! `colored_hyper::serve`.

use super::program::find;
use crate::support::{Running, alone};
use axum::Router;
use axum::routing::get;
use colored::net::TcpListener;
use colored::{Color, ColorCell, spawn, spawn_blocking};
use colored_hyper::{serve, tower};
use std::process::Command;

/// What a client of another kind prints.
fn output_of(mut client: Command) -> String {
    let output = client.output().unwrap();
    let (text, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{client:?}: {}\n{text}\n{errors}", output.status);
    text.into_owned()
}

/// What a client prints, whose address is that of the page `/` of the example, or of a server of both versions in this
/// process; and the number of requests that the server has answered.
fn at_server(
    over_http2: bool,
    client: impl FnOnce(&str) -> String + Send + 'static,
) -> (String, usize) {
    if !over_http2 {
        let server = Running::http();
        let text = client(&server.url("/"));
        return (text, hits(&server));
    }
    alone(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let hits = ColorCell::new(Color::named("hits"), 0);
        let count = hits.clone();
        let hello = get(async move || {
            count.call(|hits| *hits += 1).await;
            "Hello, World!"
        });
        drop(spawn(serve(listener, tower(Router::new().route("/", hello))).into_future()));
        let text = spawn_blocking(move || client(&url)).await.unwrap();
        (text, hits.call(|hits| *hits).await)
    })
}

/// The number of requests that the example has answered.
fn hits(server: &Running) -> usize {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--fail", &server.url("/hits")]);
    output_of(curl).parse().unwrap()
}

#[test]
fn curl_gets_an_answer_to_each_request() {
    let Some(curl) = find("curl", "curl") else { return };
    // Debian's curl 7.88 fails at the second HTTP/2 request of a connection, at nginx too: a connection for each.
    let protocols = [
        ("--http1.0", false, 1, 100),
        ("--http1.1", false, 1, 100),
        ("--http2-prior-knowledge", true, 20, 1),
    ];
    for (protocol, over_http2, times, requests) in protocols {
        let curl = curl.clone();
        let (text, hits) = at_server(over_http2, move |url| {
            let ask = |_| {
                let mut curl = Command::new(&curl);
                curl.args(["--silent", "--fail", protocol, &format!("{url}?[1-{requests}]")]);
                output_of(curl)
            };
            (0..times).map(ask).collect()
        });
        assert_eq!(text, "Hello, World!".repeat(times * requests), "{protocol}");
        assert_eq!(hits, times * requests);
    }
}

#[test]
fn wrk_gets_an_answer_to_each_request() {
    let (Some(wrk), Some(_)) = (find("wrk", "wrk"), find("curl", "curl")) else { return };
    let server = Running::http();
    let mut wrk = Command::new(wrk);
    wrk.args(["--threads", "1", "--connections", "8", "--duration", "1s", &server.url("/")]);
    let text = output_of(wrk);
    let errors = ["Socket errors", "Non-2xx"].iter().any(|error| text.contains(error));
    assert!(!errors, "{text}");
    let counts = text.lines().find_map(|line| line.trim().split_once(" requests in "));
    let answered: usize = counts.and_then(|(count, _)| count.parse().ok()).expect(&text);
    // At its end it drops at most one request of each connection.
    let hits = hits(&server);
    assert!(answered > 0 && (answered..=answered + 8).contains(&hits), "{hits} hits\n{text}");
}

#[test]
fn h2load_gets_an_answer_to_each_request() {
    let h2load = find("h2load", "nghttp2-client");
    let (Some(h2load), Some(_)) = (h2load, find("curl", "curl")) else { return };
    for (protocol, over_http2, streams) in
        [("--no-tls-proto=h2c", true, "32"), ("--h1", false, "1")]
    {
        let mut h2load = Command::new(&h2load);
        h2load.args([protocol, "--requests=5000", "--clients=5", "--max-concurrent-streams"]);
        h2load.arg(streams);
        let (text, hits) = at_server(over_http2, move |url| {
            h2load.arg(url);
            output_of(h2load)
        });
        let all = "5000 total, 5000 started, 5000 done, 5000 succeeded, 0 failed, 0 errored";
        assert!(text.contains(all) && text.contains("status codes: 5000 2xx"), "{text}");
        assert_eq!(hits, 5000);
    }
}
