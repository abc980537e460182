//! curl, wrk and h2load as clients of the example `http`.

use super::program::find;
use crate::support::Running;
use std::process::Command;

/// What a client of another kind prints.
fn output_of(mut client: Command) -> String {
    let output = client.output().unwrap();
    let (text, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{client:?}: {}\n{text}\n{errors}", output.status);
    text.into_owned()
}

/// The number of requests that the server has answered.
fn hits(server: &Running) -> usize {
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--fail", &server.url("/hits")]);
    output_of(curl).parse().unwrap()
}

#[test]
fn curl_gets_an_answer_to_each_request() {
    let Some(curl) = find("curl", "curl") else { return };
    // Debian's curl 7.88 fails at the second HTTP/2 request of a connection, at nginx too: a connection for each.
    let protocols =
        [("--http1.0", 1, 100), ("--http1.1", 1, 100), ("--http2-prior-knowledge", 20, 1)];
    for (protocol, times, requests) in protocols {
        let server = Running::http();
        for _ in 0..times {
            let mut curl = Command::new(&curl);
            let url = server.url(&format!("/?[1-{requests}]"));
            curl.args(["--silent", "--fail", protocol, &url]);
            assert_eq!(output_of(curl), "Hello, World!".repeat(requests), "{protocol}");
        }
        assert_eq!(hits(&server), times * requests);
    }
}

#[test]
fn wrk_gets_an_answer_to_each_request() {
    let (Some(wrk), Some(_)) = (find("wrk", "wrk"), find("curl", "curl")) else { return };
    let server = Running::http();
    let mut wrk = Command::new(wrk);
    wrk.args(["--threads", "1", "--connections", "8", "--duration", "1s", &server.url("/")]);
    let text = output_of(wrk);
    let errors = ["Socket errors", "Non-2xx"].iter().any(|error| text.contains(error));
    assert!(!errors, "{text}");
    let counts = text.lines().find_map(|line| line.trim().split_once(" requests in "));
    let answered: usize = counts.and_then(|(count, _)| count.parse().ok()).expect(&text);
    // At its end it drops at most one request of each connection.
    let hits = hits(&server);
    assert!(answered > 0 && (answered..=answered + 8).contains(&hits), "{hits} hits\n{text}");
}

#[test]
fn h2load_gets_an_answer_to_each_request() {
    let h2load = find("h2load", "nghttp2-client");
    let (Some(h2load), Some(_)) = (h2load, find("curl", "curl")) else { return };
    for (protocol, streams) in [("--no-tls-proto=h2c", "32"), ("--h1", "1")] {
        let server = Running::http();
        let mut h2load = Command::new(&h2load);
        h2load.args([protocol, "--requests=5000", "--clients=5", "--max-concurrent-streams"]);
        h2load.args([streams, &server.url("/")]);
        let text = output_of(h2load);
        let all = "5000 total, 5000 started, 5000 done, 5000 succeeded, 0 failed, 0 errored";
        assert!(text.contains(all) && text.contains("status codes: 5000 2xx"), "{text}");
        assert_eq!(hits(&server), 5000);
    }
}
