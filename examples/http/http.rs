//! Hello over HTTP, and a counter that needs no lock.
//!
//! ```text
//! cargo run --release --example http
//! curl http://127.0.0.1:8080/
//! curl http://127.0.0.1:8080/hits
//! ```
//!
//! Ctrl-C stops it: it accepts no more, and finishes the requests that run.
//!
//! It depends on hyper and on the runtime, and on nothing else, so that it compiles soon. `colored_hyper::serve` does what
//! `listen` and `converse` do, for both versions of HTTP, with limits of time and of connections.

use bytes::Bytes;
use colored::io::named;
use colored::net::{TcpListener, TcpStream};
use colored::task::{CancellationToken, JoinSet};
use colored::time::{Duration, timeout};
use colored::{Color, ColorCell, Runtime};
use colored_examples_common::{Args, Failure, asked_to_stop};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use std::convert::Infallible;
use std::pin::pin;

const USAGE: &str = "http [--addr HOST:PORT] [--workers N] [--pin] [--coloring connection|default]";

/// Whether each connection has a color of its own, and so runs beside the others.
const COLORINGS: [(&str, bool); 2] = [("connection", true), ("default", false)];

/// How long requests may take to end.
const PATIENCE: Duration = Duration::from_secs(5);

fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line(USAGE);
    let addr = args.value("--addr", "an address and a port, such as 127.0.0.1:8080")?;
    let addr = addr.unwrap_or(String::from("127.0.0.1:8080"));
    let is_parallel = args.choice("--coloring", &COLORINGS)?.unwrap_or(true);
    let mut runtime = Runtime::builder().pin(args.flag("--pin"));
    if let Some(workers) = args.value("--workers", "a number of threads, such as 2")? {
        runtime = runtime.workers(workers);
    }
    args.end()?;
    runtime.build()?.run(listen(addr, is_parallel))
}

async fn listen(addr: String, is_parallel: bool) -> Result<(), Failure> {
    let listener = named(TcpListener::bind(addr)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let mut asked = pin!(asked_to_stop()?);
    println!("listening on {url}; try: curl {url}/");

    // The color owns the number: all requests count there, one after the other.
    let hits = ColorCell::new(Color::named("hits"), 0);
    let (stop, mut connections) = (CancellationToken::new(), JoinSet::new());
    loop {
        colored::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let connection = converse(stream, hits.clone(), stop.clone());
                    match is_parallel {
                        true => connections.spawn_unique(connection),
                        false => connections.spawn(connection),
                    };
                }
                // A lack of descriptors; the listener waits a while before the next attempt.
                Err(error) => eprintln!("{error}"),
            },
            Some(_) = connections.join_next() => {}
            () = &mut asked => break,
        }
    }
    drop(listener);
    stop.cancel();
    let ended = async { while connections.join_next().await.is_some() {} };
    if timeout(PATIENCE, ended).await.is_err() {
        connections.shutdown().await;
    }
    println!("stopped after {} hits", hits.call(|hits| *hits).await);
    Ok(())
}

/// A connection, until its client or the program ends it. The client that goes away in the middle is no failure of ours.
async fn converse(stream: TcpStream, hits: ColorCell<u64>, stop: CancellationToken) {
    let service = service_fn(move |request| answer(request, hits.clone()));
    let mut connection = pin!(http1::Builder::new().serve_connection(stream, service));
    let _ended = colored::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
}

async fn answer(
    request: Request<Incoming>,
    hits: ColorCell<u64>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = match request.uri().path() {
        "/" => {
            hits.call(|hits| *hits += 1).await;
            Bytes::from_static(b"Hello, World!")
        }
        "/hits" => Bytes::from(hits.call(|hits| *hits).await.to_string()),
        _ => {
            let mut answer = Response::new(Full::from("there is / and /hits\n"));
            *answer.status_mut() = StatusCode::NOT_FOUND;
            return Ok(answer);
        }
    };
    Ok(Response::new(Full::new(body)))
}
