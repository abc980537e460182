//! What runs is finished, or cut off at the deadline, and the exit code tells which.

use crate::support::{Running, addr_after, connect, error, get};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

fn start(options: &str) -> (Running, SocketAddr) {
    let options = format!("--addr 127.0.0.1:0 {options}");
    let running = Running::start("graceful-shutdown", &options);
    let addr = addr_after(&running.line(), "listening on http://");
    (running, addr)
}

/// A request that runs when this returns.
fn begin(addr: SocketAddr, milliseconds: u32) -> TcpStream {
    let mut stream = connect(addr);
    let request = format!("GET /{milliseconds} HTTP/1.1\r\nhost: a\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    while !get(addr, "/").1.starts_with("1 requests run; ") {}
    stream
}

#[test]
fn a_request_that_runs_is_finished() {
    let (running, addr) = start("--deadline-ms 60000");
    let mut request = begin(addr, 3_000);
    let _idle = connect(addr);
    crate::support::signal(running.id());
    let mut answer = String::new();
    request.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("done in 3000 ms\n"), "{answer}");
    let lines = running.end();
    let [stopping, finished, job] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(stopping, "stopping: no more connections, and 60s for the requests that run");
    assert_eq!(finished, "1 requests were finished");
    assert!(job.starts_with("the job has saved its work after "), "{job}");
}

#[test]
fn a_request_that_takes_too_long_is_cut_off_and_that_is_a_failure() {
    let (running, addr) = start("--deadline-ms 100");
    let mut request = begin(addr, 600_000);
    crate::support::signal(running.id());
    let mut answer = String::new();
    let _ = request.read_to_string(&mut answer);
    assert_eq!(answer, "");
    let lines = running.fail();
    assert_eq!(lines[1], "0 requests were finished");
    assert!(lines[2].starts_with("the job has saved its work after "), "{lines:?}");
}

#[test]
fn it_says_what_is_allowed() {
    let text = error("graceful-shutdown", "--deadline-ms soon");
    let expected = "Error: --deadline-ms soon: expected a number of milliseconds, such as 5000\n";
    assert!(text.starts_with(expected), "{text}");
}
