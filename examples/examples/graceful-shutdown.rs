//! A program that ends in order when it is asked to: first the server finishes its requests, then a job in
//! the background saves its work, and the exit code tells whether all requests were finished.
//!
//! ```text
//! cargo run --release -p colored-examples --example graceful-shutdown -- [--addr HOST:PORT] [--deadline-ms N]
//! curl http://127.0.0.1:8080/3000      # a request that takes 3 s; press Ctrl-C meanwhile
//! echo $?                              # 0, or 1 if the deadline has cut requests off
//! curl http://127.0.0.1:8080/          # how many requests run
//! ```

use colored::io::named;
use colored::net::TcpListener;
use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{Color, ColorCell};
use colored_examples::{Args, Failure, asked_to_stop};
use colored_hyper::serve;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use std::convert::Infallible;

const USAGE: &str = "graceful-shutdown [--addr HOST:PORT] [--deadline-ms N]";

#[colored::main]
async fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line(USAGE);
    let addr = args.value("--addr", "an address and a port, such as 127.0.0.1:8080")?;
    let deadline = args.value("--deadline-ms", "a number of milliseconds, such as 5000")?;
    let deadline = Duration::from_millis(deadline.unwrap_or(5_000));
    args.end()?;

    let listener = named(TcpListener::bind(addr.unwrap_or(String::from("127.0.0.1:8080")))).await?;
    let stop = asked_to_stop()?;
    let url = format!("http://{}", listener.local_addr()?);
    println!("listening on {url}; try: curl {url}/3000, and Ctrl-C meanwhile");

    let (cancel, cancelled) = oneshot::channel();
    let job = colored::spawn_colored(Color::named("job"), job(cancelled));
    let requests = ColorCell::new(Color::named("requests"), Requests::default());
    let counted = requests.clone();
    let served = serve(listener, service_fn(move |request| work(request, counted.clone())))
        .drain_timeout(deadline)
        .with_graceful_shutdown(async move {
            stop.await;
            println!("stopping: no more connections, and {deadline:?} for the requests that run");
        })
        .await;
    println!("{} requests were finished", requests.call(|requests| requests.finished).await);
    // No request needs the job any more.
    drop(cancel);
    println!("the job has saved its work after {} rounds", job.await?);
    // A failure is the exit code 1.
    Ok(served?)
}

#[derive(Default)]
struct Requests {
    begun: u64,
    finished: u64,
}

/// Takes as many milliseconds as the path says.
async fn work(
    request: Request<Incoming>,
    requests: ColorCell<Requests>,
) -> Result<Response<String>, Infallible> {
    let path = request.uri().path().trim_start_matches('/');
    let Ok(milliseconds) = path.parse() else {
        let running = requests.call(|requests| requests.begun - requests.finished).await;
        let text = format!("{running} requests run; one of 3000 milliseconds is /3000\n");
        return Ok(Response::new(text));
    };
    requests.call(|requests| requests.begun += 1).await;
    sleep(Duration::from_millis(milliseconds)).await;
    requests.call(|requests| requests.finished += 1).await;
    Ok(Response::new(format!("done in {milliseconds} ms\n")))
}

/// Works in rounds until it is cancelled, between two rounds and never within one. Returns how many there were.
async fn job(mut cancelled: oneshot::Receiver<()>) -> u64 {
    let mut rounds = 0;
    loop {
        colored::select! {
            biased;
            _ = &mut cancelled => return rounds,
            () = sleep(Duration::from_millis(10)) => rounds += 1,
        }
    }
}
