//! Many connections, each with its own words.

use crate::support::{Running, addr_after, connect, error};
use std::io::{Read, Write};
use std::net::Shutdown;

#[test]
fn it_gives_back_what_it_gets() {
    let echo = Running::start("echo", "--addr 127.0.0.1:0");
    let addr = addr_after(&echo.line(), "listening on ");
    let mut streams: Vec<_> =
        (0..50).map(|n| (connect(addr), format!("{n} ").repeat(1_000))).collect();
    for (stream, words) in &mut streams {
        stream.write_all(words.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
    }
    for (stream, words) in &mut streams {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, *words);
    }
}

#[test]
fn it_says_what_it_does_not_know() {
    let text = error("echo", "--port 7");
    assert_eq!(
        text,
        "Error: --port is not known here, or given twice\nusage: echo [--addr HOST:PORT]\n"
    );
}
