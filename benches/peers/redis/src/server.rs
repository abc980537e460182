//! The servers that are compared.
//!
//! A server prints `PORT <n>` when it listens. For each line that it reads it prints its CPU time in nanoseconds and its
//! resident memory in KiB; at the end of its input it ends.

use crate::connection::serve;
use crate::store::{Batches, Colors, Locks, Store};
use rustix::time::{ClockId, clock_gettime};
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::time::Duration;

/// The name, and what it stands for.
pub(crate) const SERVERS: [(&str, &str); 5] = [
    ("lock", "tokio, one std mutex"),
    ("locks", "tokio, 64 std mutexes"),
    ("serial", "colored, no color named, one std mutex"),
    ("colors", "colored, a color for each connection, 64 cells"),
    (
        "batches",
        "colored, a color for each connection, one cell, a call for all commands of a read",
    ),
];

const ADDRESS: &str = "127.0.0.1:0";

/// Runs the server of that name until the standard input ends.
pub(crate) fn main(name: &str, workers: &str, compute: &str) -> Result<(), Box<dyn Error>> {
    let number = |text: &str| {
        text.parse::<u32>().map_err(|error| format!("{text:?} is no number of 0 or more: {error}"))
    };
    let compute = Duration::from_micros(number(compute)?.into());
    let workers = number(workers)?.max(1) as usize;
    match name {
        "lock" => with_tokio(workers, Locks::one(compute)),
        "locks" => with_tokio(workers, Locks::several(compute)),
        "serial" => with_colored(workers, async move {
            let store = Locks::one(compute);
            accept(async |stream| drop(colored::spawn(serve(stream, store.clone())))).await
        }),
        "colors" => with_colored(workers, async move {
            let store = Colors::new(compute);
            accept(async |stream| drop(colored::spawn_unique(serve(stream, store.clone())))).await
        }),
        "batches" => with_colored(workers, async move {
            let store = Batches::new(compute);
            accept(async |stream| drop(colored::spawn_unique(serve(stream, store.clone())))).await
        }),
        _ => {
            let names = SERVERS.map(|(name, _)| name).join(", ");
            return Err(format!("no server is called {name:?}; there are: {names}").into());
        }
    }?;
    Ok(())
}

fn with_tokio(workers: usize, store: impl Store) -> io::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_io().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(ADDRESS).await?;
        tell(listener.local_addr()?.port());
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(serve(stream, store.clone()));
        }
    })
}

fn with_colored(workers: usize, main: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    colored::Runtime::builder().workers(workers).build()?.block_on(main)
}

async fn accept(serve: impl AsyncFn(colored::net::TcpStream)) -> io::Result<()> {
    let listener = colored::net::TcpListener::bind(ADDRESS).await?;
    tell(listener.local_addr()?.port());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        serve(stream).await;
    }
}

/// The server listens.
fn tell(port: u16) {
    println!("PORT {port}");
    std::thread::spawn(answer_questions);
}

fn answer_questions() {
    for line in io::stdin().lock().lines() {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        let nanos = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let resident = resident.unwrap_or("0 kB").trim().trim_end_matches(" kB");
        if line.is_err() || writeln!(io::stdout(), "{nanos} {resident}").is_err() {
            break;
        }
    }
    std::process::exit(0);
}
