//! A server for static files: HTTP/1.1 on hyper, with ranges, conditional requests and a cache.
//!
//! It is also an experiment. `--fs` chooses how the server reaches its files: `lazy` by `colored::fs`,
//! `blocking` by the standard library on the worker, `pool` by the standard library on a thread for
//! blocking calls, `aio` by the standard library on the worker for all but reads, each of which is left to
//! the system's io_uring untried, and `amped` by helper processes that read a file into the system's page cache before
//! the worker reads it (asymmetric multi-process event-driven; Pai, Druschel, Zwaenepoel: "Flash",
//! USENIX 1999). `--coloring serial` runs everything under one color, as a program with one thread would;
//! `--copies N` runs N servers that share nothing but the address; `--shards N` divides the cache.
//!
//! On Linux, where the way is `lazy`, a file that is too large for the cache is not read: the connection
//! sends what is in the system's memory by `sendfile`, unless `--sendfile off` says otherwise.
//!
//! ```text
//! cargo run --release -p httpd -- --root docs
//! curl -i http://127.0.0.1:8080/README.md
//! ```
//!
//! The server follows symbolic links, lists no directories, and leaves its root by no path. It limits
//! how long a client takes to send a request, and how long a client reads nothing of an answer. Ctrl-C
//! stops it: it finishes the answers that it has begun, and prints what its cache has done.

#[cfg(unix)]
mod access;
#[cfg(unix)]
mod aio;
#[cfg(unix)]
mod answer;
#[cfg(unix)]
mod body;
#[cfg(unix)]
mod cache;
#[cfg(unix)]
mod conditions;
#[cfg(unix)]
mod entry;
#[cfg(unix)]
mod helpers;
#[cfg(unix)]
mod key;
#[cfg(unix)]
mod loading;
#[cfg(unix)]
mod media;
#[cfg(unix)]
mod options;
#[cfg(unix)]
mod outbox;
#[cfg(unix)]
mod range;
#[cfg(unix)]
mod roots;
#[cfg(unix)]
mod server;
#[cfg(unix)]
mod serving;
#[cfg(unix)]
mod steps;
#[cfg(unix)]
mod target;
#[cfg(unix)]
mod wire;

#[cfg(unix)]
fn main() -> Result<(), colored_examples_common::Failure> {
    server::main()
}

#[cfg(not(unix))]
fn main() {
    eprintln!("this example needs the signals and sockets of Unix");
    std::process::exit(1);
}
