//! Hello, hits, and command lines that are wrong.

#[allow(dead_code, reason = "the other examples use the rest")]
#[path = "../../tests/run/support.rs"]
mod support;

use crate::support::{Running, addr_after, connect, error, get};
use std::thread;

#[test]
fn it_says_hello_and_counts() {
    for options in
        ["", "--workers 1", "--workers 2 --pin", "--coloring default", "--coloring=connection"]
    {
        let http = Running::start("http", &format!("--addr 127.0.0.1:0 {options}"));
        let line = http.line();
        let addr = addr_after(&line, "listening on http://");
        assert!(line.ends_with(&format!("try: curl http://{addr}/")), "{line}");

        let hello = move || {
            let (head, body) = get(addr, "/");
            assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
            assert!(head.contains("content-length: 13"), "{head}");
            assert_eq!(body, "Hello, World!");
        };
        let clients: Vec<_> =
            (0..4).map(|_| thread::spawn(move || (0..25).for_each(|_| hello()))).collect();
        for client in clients {
            client.join().unwrap();
        }
        assert_eq!(get(addr, "/hits").1, "100", "{options}");
        assert!(get(addr, "/nothing").0.starts_with("HTTP/1.1 404 "));
        assert_eq!(get(addr, "/hits").1, "100", "{options}");
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it() {
    let http = Running::start("http", "--addr 127.0.0.1:0");
    let addr = addr_after(&http.line(), "listening on http://");
    get(addr, "/");
    // A client that stays.
    let _idle = connect(addr);
    assert_eq!(http.stop(), ["stopped after 1 hits"]);
}

#[test]
fn it_says_what_is_allowed() {
    let mistakes = [
        ("--coloring rainbow", "--coloring rainbow: expected connection or default\nusage: "),
        ("--workers two", "--workers two: expected a number of threads, such as 2\nusage: "),
        ("--workers 0", "workers(0): allowed are 1 to 1024"),
        ("--workers", "--workers has no value: expected a number of threads"),
        ("--addr nowhere", "invalid address \"nowhere\": there is no port; expected HOST:PORT"),
        (
            "--adr 127.0.0.1:1",
            "--adr is not known here, or given twice\nusage: http [--addr HOST:PORT]",
        ),
    ];
    for (args, expected) in mistakes {
        let text = error("http", args);
        assert!(text.starts_with(&format!("Error: {expected}")), "{text}");
    }
}

#[test]
fn it_says_which_port_is_in_use() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap();
    let text = error("http", &format!("--addr {addr}"));
    assert!(text.starts_with(&format!("Error: cannot listen on {addr}: ")), "{text}");
}

#[test]
fn it_explains_itself() {
    let lines = Running::start("http", "--help").end();
    assert!(lines[0].starts_with("usage: http [--addr HOST:PORT] [--workers N] "), "{lines:?}");
}
