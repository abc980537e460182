//! A small server of Redis' protocol, on tokio with locks and on `colored` with colors, under Debian's `redis-benchmark`.
//!
//! ```text
//! cargo run --release -p colored-redis              # all servers, alternated: medians of 5 rounds
//! cargo run --release -p colored-redis -- --quick   # one short round of each
//! cargo run --release -p colored-redis -- serve colors 2   # one server, for other clients
//! ```
//!
//! | module | one idea |
//! |---|---|
//! | `resp` | the protocol: bytes to commands, answers to bytes |
//! | `store` | the values: behind one lock or 64, under 64 colors, or under one |
//! | `connection` | one client: all commands that have come, then one write |
//! | `server` | the servers that are compared, each in a process of its own |
//! | `compare` | `redis-benchmark` against all of them in turn |

mod compare;
mod connection;
mod resp;
mod server;
mod store;

use std::process::ExitCode;

const USAGE: &str = "usage: redis [--quick]\n       redis serve NAME [WORKERS [MICROSECONDS]]\n\
    NAME is one of: lock, locks, serial, colors, batches. MICROSECONDS is what each command computes beside its work.";

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => compare::run(compare::FULL),
        ["--quick"] => compare::run(compare::QUICK),
        ["serve", name] => server::main(name, "2", "0"),
        ["serve", name, workers] => server::main(name, workers, "0"),
        ["serve", name, workers, compute] => server::main(name, workers, compute),
        _ => Err(USAGE.into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
