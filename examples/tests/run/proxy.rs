//! The three proxies do the same, and the second is hardly longer than the first.

use crate::support::{Running, addr_after, error, get, send};

#[test]
fn each_relays_refuses_and_reports() {
    for coloring in ["serial", "parse", "full"] {
        let proxy = Running::start("proxy", &format!("--addr 127.0.0.1:0 --coloring {coloring}"));
        let line = proxy.line();
        let addr = addr_after(&line, "curl -x http://");
        let origin = addr_after(&line, &format!("{addr} http://"));

        let page = get(origin, "/hello");
        assert!(page.1.starts_with("This is /hello.\n"), "{page:?}");
        assert!(page.1.ends_with("Paid for by ads-7.example.\n"), "{page:?}");
        let masked = (page.0, page.1.replace("ads-7.example", "*************"));
        for _ in 0..2 {
            assert_eq!(get(addr, &format!("http://{origin}/hello")), masked, "{coloring}");
        }

        let (head, body) = get(addr, "http://ads-7.example/");
        assert_eq!((&*head, &*body), ("HTTP/1.0 403 Forbidden", "ads-7.example is blocked\n"));
        let (head, body) = send(addr, "GET /hello HTTP/1.1\r\n\r\n");
        assert_eq!(head, "HTTP/1.0 400 Bad Request");
        assert_eq!(body, "expected GET http://HOST/PATH HTTP/1.1\n");
        // No server listens on port 1.
        let (head, body) = get(addr, "http://127.0.0.1:1/");
        assert_eq!(head, "HTTP/1.0 502 Bad Gateway");
        assert!(body.starts_with("cannot connect to 127.0.0.1:1: "), "{body}");
        // One by this test itself.
        #[cfg(unix)]
        assert_eq!(proxy.stop(), ["stopped: the origin has served 2 pages"]);
    }
}

#[test]
fn each_fetches_a_page_once_under_load() {
    let lines = Running::start("proxy", "--compare --requests 3 --rounds 1").end();
    assert_eq!(lines.len(), 4);
    for (line, coloring) in lines.iter().zip(["serial", "parse", "full"]) {
        assert!(line.trim_start().starts_with(&format!("{coloring}: 24 requests in ")), "{line}");
        assert!(line.ends_with(" times as fast as serial"), "{line}");
    }
    assert_eq!(lines[3], "each fetched every page once");
}

#[test]
fn it_says_what_is_allowed() {
    let text = error("proxy", "--coloring none");
    assert!(
        text.starts_with("Error: --coloring none: expected serial or parse or full\n"),
        "{text}"
    );
}

#[test]
fn the_step_to_parallel_parsing_takes_at_most_ten_lines() {
    let serial = include_str!("../../examples/proxy/serial.rs");
    let parse = include_str!("../../examples/proxy/parse.rs");
    let lines = difference(serial, parse);
    assert!((1..=10).contains(&lines), "{lines} lines");
}

/// How many lines `diff` shows: those removed and those added.
fn difference(a: &str, b: &str) -> usize {
    let (a, b): (Vec<_>, Vec<_>) = (a.lines().collect(), b.lines().collect());
    // common[i][j]: the most lines that a[i..] and b[j..] have in common, in order.
    let mut common = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = match a[i] == b[j] {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    a.len() + b.len() - 2 * common[0][0]
}

#[test]
fn the_difference_is_counted_in_lines() {
    assert_eq!(difference("a\nb\nc", "a\nb\nc"), 0);
    assert_eq!(difference("a\nb\nc", "a\nx\nc\nd"), 3);
    assert_eq!(difference("", "a\nb"), 2);
}
