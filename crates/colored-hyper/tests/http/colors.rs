//! The color that a request runs under, and the requests that may overlap.

use crate::support::*;
use colored::Color;
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored::time::Duration;
use colored_hyper::{Coloring, serve, serve_with};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Uri};
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The colors of two requests on each of two connections.
async fn colors_of_http1(coloring: Coloring) -> [[String; 2]; 2] {
    let server = start(|listener| serve(listener, service_fn(color)).coloring(coloring)).await;
    let mut colors = [const { [const { String::new() }; 2] }; 2];
    for connection in &mut colors {
        let mut client = http1(&server).await;
        for color in connection {
            client.ready().await.unwrap();
            let response =
                within(client.send_request(post(Uri::from_static("/"), ""))).await.unwrap();
            *color = text(response).await;
        }
    }
    server.end().await;
    colors
}

/// The colors of the connection and of two requests over HTTP/2.
async fn colors_of_http2(coloring: Coloring) -> [String; 2] {
    let server = start(|listener| serve(listener, service_fn(color)).coloring(coloring)).await;
    let mut client = http2(&server).await;
    let mut colors = [const { String::new() }; 2];
    for color in &mut colors {
        let response = within(client.send_request(post(server.uri(), ""))).await.unwrap();
        *color = text(response).await;
    }
    drop(client);
    server.end().await;
    colors
}

#[colored::test(workers = 2)]
async fn a_connection_has_a_color_of_its_own() {
    for coloring in [Coloring::default(), Coloring::Stream] {
        let [[a, b], [c, d]] = colors_of_http1(coloring).await;
        assert!(a == b && c == d && a != c, "{coloring:?}: {a} {b} {c} {d}");
        assert!(a.starts_with("color unique-"), "{a}");
    }
}

#[colored::test(workers = 2)]
async fn everything_can_have_one_color() {
    let shared = Color::of("server");
    let cases = [
        (Coloring::Default, Color::DEFAULT),
        (Coloring::One(shared), shared),
        (
            Coloring::Peer(|peer: &SocketAddr| Color::of(peer.ip())),
            Color::of("127.0.0.1".parse::<std::net::IpAddr>().unwrap()),
        ),
    ];
    for (coloring, expected) in cases {
        let colors = colors_of_http1(coloring).await;
        assert_eq!(colors.concat(), vec![expected.to_string(); 4], "{coloring:?}");
        assert_eq!(colors_of_http2(coloring).await, [(); 2].map(|()| expected.to_string()));
    }
}

#[colored::test(workers = 2)]
async fn http2_requests_share_the_color_of_the_connection_or_have_their_own() {
    let [a, b] = colors_of_http2(Coloring::Connection).await;
    assert!(a == b && a.starts_with("color unique-"), "{a} {b}");
    let [a, b] = colors_of_http2(Coloring::Stream).await;
    assert!(a != b && a.starts_with("color unique-"), "{a} {b}");
}

/// The most requests of one HTTP/2 connection that are inside their handlers at once.
async fn most_streams_at_once(coloring: Coloring, stay: Duration) -> usize {
    let inside = Arc::new(Inside::default());
    let counter = Arc::clone(&inside);
    let handler = service_fn(move |request: Request<Incoming>| {
        let counter = Arc::clone(&counter);
        async move {
            counter.stay(stay);
            echo(request).await
        }
    });
    let server = start(|listener| serve(listener, handler).coloring(coloring)).await;
    let client = http2(&server).await;
    let requests: Vec<_> = (0..4)
        .map(|_| {
            let (mut client, uri) = (client.clone(), server.uri());
            colored::spawn_unique(async move { client.send_request(post(uri, "")).await.unwrap() })
        })
        .collect();
    for request in requests {
        within(request).await.unwrap();
    }
    drop(client);
    server.end().await;
    inside.most.load(Ordering::SeqCst)
}

#[colored::test(workers = 3)]
async fn streams_overlap_only_in_colors_of_their_own() {
    assert_eq!(most_streams_at_once(Coloring::Connection, SHORT).await, 1);
    assert_eq!(most_streams_at_once(Coloring::Default, SHORT).await, 1);
    assert!(most_streams_at_once(Coloring::Stream, LONG).await > 1);
}

#[colored::test(workers = 3)]
async fn connections_overlap_unless_they_share_a_color() {
    for (coloring, stay) in [(Coloring::Connection, LONG), (Coloring::Default, SHORT)] {
        let inside = Arc::new(Inside::default());
        let counter = Arc::clone(&inside);
        let server = start(|listener| {
            let make = move |_| {
                let counter = Arc::clone(&counter);
                service_fn(move |request: Request<Incoming>| {
                    counter.stay(stay);
                    color(request)
                })
            };
            serve_with(listener, make).coloring(coloring)
        })
        .await;
        let requests: Vec<_> = (0..3)
            .map(|_| {
                let uri = server.uri();
                colored::spawn_unique(async move {
                    let client: Pool = colored_hyper::client();
                    text(client.get(uri).await.unwrap()).await
                })
            })
            .collect();
        let mut colors = HashSet::new();
        for request in requests {
            colors.insert(within(request).await.unwrap());
        }
        let parallel = stay == LONG;
        assert_eq!(inside.most.load(Ordering::SeqCst) > 1, parallel, "{coloring:?}");
        assert_eq!(colors.len(), if parallel { 3 } else { 1 });
        server.end().await;
    }
}

/// A long poll under the color of the caller, the default one, stops neither accepting nor answering.
#[colored::test(workers = 2)]
async fn a_busy_caller_does_not_stop_the_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let server = colored::spawn(serve(listener, service_fn(color)).into_future());
    let (answered, busy) = std::sync::mpsc::channel();
    // The server's task begins before this one, which has the same color, and holds it.
    let holder = colored::spawn(async move { busy.recv_timeout(LONG) });
    let client = colored::spawn_unique(async move {
        for _ in 0..3 {
            let mut stream = TcpStream::connect(addr).await.unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nconnection: close\r\n\r\n").await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
        answered.send(()).unwrap();
    });
    holder.await.unwrap().expect("the server has answered meanwhile");
    client.await.unwrap();
    server.abort();
}
