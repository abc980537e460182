//! The command line.

use std::process::ExitCode;

#[colored::main]
async fn main() -> ExitCode {
    match chord::command::run(std::env::args().skip(1).collect()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
