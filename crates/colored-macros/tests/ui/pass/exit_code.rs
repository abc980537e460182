use std::process::ExitCode;

#[colored::main]
async fn main() -> ExitCode {
    ExitCode::SUCCESS
}
