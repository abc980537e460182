//! Every limit of a server and of a client, from nothing to the most.

use crate::support::*;
use colored::time::{Duration, timeout};
use colored_hyper::{
    ColoredExecutor, ColoredTimer, Connector, Listener, Serve, client_builder, serve,
};
use hyper::rt::Timer;
use hyper::service::service_fn;
use std::panic;
use std::sync::Mutex;

/// What has overflowed in any task.
static OVERFLOWS: Mutex<Vec<String>> = Mutex::new(Vec::new());

const LEAST: [Duration; 2] = [Duration::ZERO, Duration::from_nanos(1)];
const MOST: [Duration; 2] = [Duration::MAX.saturating_sub(Duration::from_nanos(1)), Duration::MAX];

const LIMITS: [&str; 5] = ["header_read", "body_read", "http2_idle", "write", "drain"];

fn with<L: Listener, M>(serve: Serve<L, M>, limit: &str, duration: Duration) -> Serve<L, M> {
    match limit {
        "header_read" => serve.header_read_timeout(duration),
        "body_read" => serve.body_read_timeout(duration),
        "http2_idle" => serve.http2_idle_timeout(duration),
        "write" => serve.write_timeout(duration),
        "drain" => serve.drain_timeout(duration),
        limit => panic!("there is no limit {limit}"),
    }
}

fn watch_overflows() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let text = info.to_string();
        if text.contains("overflow") {
            OVERFLOWS.lock().unwrap().push(text);
        }
        before(info);
    }));
}

#[colored::test(workers = 2)]
async fn a_server_takes_every_duration() {
    watch_overflows();
    for limit in LIMITS {
        for duration in MOST {
            let server =
                start(|listener| with(serve(listener, service_fn(echo)), limit, duration)).await;
            let mut one = http1(&server).await;
            let request = hyper::Request::post("/").header("host", "a");
            let request = request.body("ok".into()).unwrap();
            assert_eq!(text(within(one.send_request(request)).await.unwrap()).await, "ok");
            let mut two = http2(&server).await;
            let response = within(two.send_request(post(server.uri(), "ok"))).await.unwrap();
            assert_eq!(text(response).await, "ok", "{limit} of {duration:?}");
            server.end().await;
        }
        for duration in LEAST {
            let server =
                start(|listener| with(serve(listener, service_fn(echo)), limit, duration)).await;
            // Served or cut off, but never left alone.
            for words in
                [&b"POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"[..], b"x\r\n\r\n"]
            {
                let mut stream = raw(&server).await;
                let _ = colored::io::AsyncWriteExt::write_all(&mut stream, words).await;
                rest(&mut stream).await;
            }
            let mut two = http2(&server).await;
            let _ = timeout(LONG, two.send_request(post(server.uri(), "ok"))).await.unwrap();
            drop(two);
            let _ = within(server.stop()).await.unwrap();
        }
    }
    assert_eq!(*OVERFLOWS.lock().unwrap(), [""; 0]);
}

#[colored::test(workers = 2)]
async fn a_server_takes_every_count() {
    for connections in [1, 2, usize::MAX - 1, usize::MAX] {
        let server =
            start(|listener| serve(listener, service_fn(echo)).max_connections(connections)).await;
        let mut stream = raw(&server).await;
        let request = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nok";
        exchange(&mut stream, request, "ok").await;
        server.end().await;
    }
}

#[colored::test(workers = 2)]
async fn a_client_and_the_timer_take_every_duration() {
    let server = start(|listener| serve(listener, service_fn(echo))).await;
    for limit in MOST {
        let connector = Connector::new().connect_timeout(limit);
        let client: Pool = client_builder(ColoredExecutor::unique()).build(connector);
        let response = within(client.request(post(server.uri(), "ok"))).await.unwrap();
        assert_eq!(text(response).await, "ok");
        assert!(timeout(SHORT, ColoredTimer.sleep(limit)).await.is_err());
    }
    for limit in LEAST {
        let connector = Connector::new().connect_timeout(limit);
        let client: Pool = client_builder(ColoredExecutor::unique()).build(connector);
        // In time or not.
        let _ = within(client.request(post(server.uri(), "ok"))).await;
        within(ColoredTimer.sleep(limit)).await;
    }
    server.end().await;
}
