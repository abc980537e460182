//! The program `rpc`: demonstrations of the library.

mod demo;
mod figures;
mod load;
mod process;

use std::env;
use std::process::ExitCode;

/// What the commands fail with: a text for people.
type Failure = Box<dyn std::error::Error + Send + Sync>;

const USAGE: &str = "usage: rpc demo | rpc serve [WORKERS [serial]] | rpc figures
  demo     calls through a network that loses datagrams; what rpcinfo sees
  serve    a server over TCP and UDP, until Ctrl-C
  figures  calls a second, and CPU time of the server for each";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["demo"] => demo::run(),
        ["serve"] => load::serve(2, false),
        ["serve", workers] => parse(workers).and_then(|workers| load::serve(workers, false)),
        ["serve", workers, "serial"] => {
            parse(workers).and_then(|workers| load::serve(workers, true))
        }
        ["figures"] => figures::run(),
        _ => Err(USAGE.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn parse(workers: &str) -> Result<usize, Failure> {
    let workers = workers.parse().ok().filter(|workers| (1..=64).contains(workers));
    workers.ok_or_else(|| format!("workers: 1 to 64\n{USAGE}").into())
}
