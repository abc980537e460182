//! Hello over HTTP, and a counter that needs no lock.
//!
//! ```text
//! cargo run --release --example http
//! curl http://127.0.0.1:8080/
//! curl http://127.0.0.1:8080/hits
//! ```
//!
//! Ctrl-C stops it: it accepts no more, and finishes the requests that run.

use bytes::Bytes;
use colored::io::named;
use colored::net::TcpListener;
use colored::{Color, ColorCell, Runtime};
use colored_examples::{Args, Failure, asked_to_stop};
use colored_hyper::{Coloring, serve};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use std::convert::Infallible;

const USAGE: &str = "http [--addr HOST:PORT] [--workers N] [--pin] [--coloring connection|default]";

const COLORINGS: [(&str, Coloring); 2] =
    [("connection", Coloring::Connection), ("default", Coloring::Default)];

fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line(USAGE);
    let addr = args.value("--addr", "an address and a port, such as 127.0.0.1:8080")?;
    let addr = addr.unwrap_or(String::from("127.0.0.1:8080"));
    let coloring = args.choice("--coloring", &COLORINGS)?.unwrap_or_default();
    let mut runtime = Runtime::builder().pin(args.flag("--pin"));
    if let Some(workers) = args.value("--workers", "a number of threads, such as 2")? {
        runtime = runtime.workers(workers);
    }
    args.end()?;
    runtime.build()?.run(listen(addr, coloring))
}

async fn listen(addr: String, coloring: Coloring) -> Result<(), Failure> {
    let listener = named(TcpListener::bind(addr)).await?;
    let url = format!("http://{}", listener.local_addr()?);
    let stop = asked_to_stop()?;
    println!("listening on {url}; try: curl {url}/");

    // The color owns the number: all requests count there, one after the other.
    let hits = ColorCell::new(Color::named("hits"), 0);
    let count = hits.clone();
    let service = service_fn(move |request| answer(request, count.clone()));
    serve(listener, service).coloring(coloring).with_graceful_shutdown(stop).await?;
    println!("stopped after {} hits", hits.call(|hits| *hits).await);
    Ok(())
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
