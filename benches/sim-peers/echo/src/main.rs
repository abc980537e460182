//! An echo over hyper between two simulated hosts: a run is 1,000 requests on one connection. Beside turmoil's, alternated in
//! one process; the median of CPU times counts.
//!
//! ```text
//! cargo run --release -p colored-echo-peers
//! ```
//!
//! turmoil moves its time in ticks of 1 ms, in each of which it runs all hosts, and by default a message takes up to 100 ms.
//! Ours take 0.5 ms, and time moves to the next of them. So turmoil has a row with messages of 0.5 ms, and one with messages
//! that take no time, which is the least that it can have to do.

mod ours;
mod theirs;

use colored_sim_cpu::alternate;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::{Request, Response};
use std::convert::Infallible;

/// Measurements of each, alternated.
const ROUNDS: usize = 5;

/// Runs of a measurement, of a seed each: all strategies of the portfolio.
const RUNS: u64 = 8;

const REQUESTS: usize = 1000;

fn main() {
    let latency = |least: u64, most: u64| least..=most;
    let [ours, default, equal, quick] = alternate(
        ROUNDS,
        [
            &mut || ours::run(RUNS),
            &mut || theirs::run(RUNS, latency(0, 100_000)),
            &mut || theirs::run(RUNS, latency(500, 500)),
            &mut || theirs::run(RUNS, latency(0, 0)),
        ],
    );
    println!("| {REQUESTS} requests | runs a second | CPU time of ours: 1 |\n|---|---|---|");
    let rows = [
        ("ours, 1 to 16 workers, the portfolio", ours),
        ("turmoil, its defaults", default),
        ("turmoil, a message takes 0.5 ms", equal),
        ("turmoil, a message takes no time", quick),
    ];
    for (name, seconds) in rows {
        println!("| {name} | {:.1} | {:.2} |", RUNS as f64 / seconds, seconds / ours);
    }
}

/// Gives the body back.
async fn echo(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await.expect("the client stays").to_bytes();
    Ok(Response::new(Full::from(body)))
}

/// Makes the requests.
async fn ask(mut sender: SendRequest<Full<Bytes>>) {
    for _ in 0..REQUESTS {
        let body = Full::from(Bytes::from_static(b"sixteen bytes, so"));
        let request = Request::post("/").header("host", "server").body(body);
        sender.ready().await.expect("the connection stays");
        let response = sender.send_request(request.expect("it is right")).await;
        let body = response.expect("an answer").into_body().collect().await.expect("its body");
        assert_eq!(body.to_bytes(), "sixteen bytes, so");
    }
}
