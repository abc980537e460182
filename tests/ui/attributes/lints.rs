//! The attributes and `select!` write code that the strictest programs accept.

#![deny(warnings)]
#![deny(missing_docs, unreachable_pub, unused_qualifications, unused, rust_2018_idioms)]
#![forbid(unsafe_code)]

use std::process::ExitCode;

#[colored::main(workers = 1)]
async fn main() -> Result<ExitCode, std::io::Error> {
    Ok(ExitCode::SUCCESS)
}

#[colored::main]
async fn answer() -> u32 {
    colored::select! {
        biased;
        answer = std::future::ready(42) => answer,
        () = std::future::pending() => 0,
    }
}

#[colored::test]
async fn test() {}

#[test]
fn the_strictest_programs_accept_it() {
    super::succeeds(main());
    assert_eq!(answer(), 42);
}
