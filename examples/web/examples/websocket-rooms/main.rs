//! Chat in the browser, over WebSocket. A room is state of a color, so all of its members hear one order, and no room waits
//! for another.
//!
//! Nothing grows without a bound: a room that has enough to say makes its speakers wait, and a member whose browser does
//! not read is put out after two seconds.
//!
//! ```text
//! cargo run --release -p colored-examples-web --example websocket-rooms -- [--addr HOST:PORT]
//! xdg-open http://127.0.0.1:7002/
//! xdg-open http://127.0.0.1:7002/#lobby/ann/hello
//! ```
//!
//! Ctrl-C stops it: every browser is told so by a close frame, and the server ends when they have answered.

mod hotel;
mod room;
mod wire;

use bytes::Bytes;
use colored::Color;
use colored::net::TcpListener;
use colored::time::Duration;
use colored_examples::{Args, Failure, asked_to_stop};
use colored_hyper::{serve, websocket};
use hotel::Hotel;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use std::convert::Infallible;

const PAGE: &str = include_str!("page.html");

/// How long a browser may take nothing that is sent to it: so long it delays its room at most.
const PATIENCE: Duration = Duration::from_secs(2);

#[colored::main]
async fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line("websocket-rooms [--addr HOST:PORT]");
    let addr = args.value("--addr", "an address and a port, such as 127.0.0.1:7002")?;
    args.end()?;

    let listener = TcpListener::bind(addr.unwrap_or(String::from("127.0.0.1:7002"))).await?;
    let stop = asked_to_stop()?;
    println!("listening on http://{}; open it in two browsers", listener.local_addr()?);
    let hotel = Hotel::default();
    let service = service_fn(move |request| {
        let answer = answer(request, hotel.clone());
        async { Ok::<_, Infallible>(answer) }
    });
    serve(listener, service).write_timeout(PATIENCE).with_graceful_shutdown(stop).await?;
    println!("stopped: all rooms are empty");
    Ok(())
}

fn answer(request: Request<Incoming>, hotel: Hotel) -> Response<Full<Bytes>> {
    let path = request.uri().path();
    if path == "/" {
        let mut answer = Response::new(Full::from(PAGE));
        let html = HeaderValue::from_static("text/html; charset=utf-8");
        answer.headers_mut().insert(CONTENT_TYPE, html);
        return answer;
    }
    let Some((room, name)) = path.strip_prefix("/rooms/").and_then(|rest| rest.split_once('/'))
    else {
        let mut answer = Response::new(Full::from("there is / and /rooms/ROOM/NAME\n"));
        *answer.status_mut() = StatusCode::NOT_FOUND;
        return answer;
    };
    let word = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (room, name) = (word(room), word(name));
    // Members in parallel; the two directions of one take turns.
    websocket::upgrade(request, Color::unique(), |socket| wire::serve(socket, hotel, room, name))
}
