//! The program runs: every row once, with small counts.

use colored_benches::http::child::Server;
use colored_benches::http::numbered::Load;
use colored_benches::http::wire::Address;
use std::process::Command;
use std::time::Duration;

#[test]
fn every_row_runs_and_no_count_is_wrong() {
    let program = env!("CARGO_BIN_EXE_colored-peers");
    let output = Command::new(program).arg("--smoke").output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    let rows = text.lines().filter(|line| line.starts_with("RATIO ")).count();
    let ended = text.lines().filter(|line| line.starts_with("INFO ")).count();
    assert!(rows > 0 && rows == ended, "{text}");
}

/// The experiment `connections` of the other workspace starts this server.
#[test]
fn coroutines_repeat_the_numbers_of_their_requests() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_colored-peers"));
    command.arg("--serve=numbered:may");
    let server = Server::spawn(command, None).expect("it listens");
    let Address::Tcp(address) = server.address else { panic!("it listens at a port") };
    let mut load = Load::new(address).expect("a poller");
    load.open(200).expect("it accepts");
    let outcome = load.run(Duration::from_millis(50)).expect("each response is right");
    assert!(outcome.delays.len() >= 200);
}
