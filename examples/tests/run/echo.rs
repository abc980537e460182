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

#[cfg(unix)]
#[test]
fn a_signal_ends_it_after_the_connections() {
    let echo = Running::start("echo", "--addr 127.0.0.1:0");
    let addr = addr_after(&echo.line(), "listening on ");
    let (mut open, mut silent) = (connect(addr), connect(addr));
    for stream in [&mut open, &mut silent] {
        stream.write_all(b"a").unwrap();
        stream.read_exact(&mut [0]).unwrap();
    }
    crate::support::signal(echo.id());
    // It accepts no more.
    while std::net::TcpStream::connect(addr).is_ok() {}
    open.write_all(b"still there?").unwrap();
    open.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    open.read_to_string(&mut answer).unwrap();
    assert_eq!(answer, "still there?");
    assert_eq!(silent.read(&mut [0]).unwrap_or_default(), 0);
    let end = echo.end().pop().unwrap();
    assert!(end.ends_with(" connections have ended, 1 were cut off"), "{end}");
}

#[test]
fn it_says_what_it_does_not_know() {
    let text = error("echo", "--port 7");
    assert_eq!(
        text,
        "Error: --port is not known here, or given twice\nusage: echo [--addr HOST:PORT]\n"
    );
}
