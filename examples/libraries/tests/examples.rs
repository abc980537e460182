//! Each example that needs no other program prints what it promises.

use crate::support::lines_of;

#[test]
fn reqwest() {
    let mut lines = lines_of("reqwest", &[]);
    lines.sort_unstable();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], "user 0: [0, 1, 4, 9, 16]");
    assert_eq!(lines[3], "user 3: [9, 16, 25, 36, 49]");
}

#[test]
fn settings() {
    assert_eq!(lines_of("settings", &[]), ["color = red", "color = green", "color = blue"]);
}

#[test]
fn sqlite() {
    let lines = lines_of("sqlite", &[]);
    assert!(lines[0].starts_with("200 deposits without sections: "), "{lines:?}");
    assert_eq!(lines[1..], ["200 deposits in sections: 200 have arrived"]);
}

#[test]
fn grpc() {
    let expected = [
        "colour blue: 14850",
        "colour green: 14950",
        "colour red: 15050",
        "without a key: code: 'Client specified an invalid argument', message: \"the key is empty; expected a text\"",
    ];
    assert_eq!(lines_of("grpc", &[]), expected);
}

#[test]
fn websocket() {
    let expected = [
        "CLIENT 0, MESSAGE 9",
        "CLIENT 1, MESSAGE 9",
        "CLIENT 2, MESSAGE 9",
        "CLIENT 3, MESSAGE 9",
        "40 messages",
    ];
    assert_eq!(lines_of("websocket", &[]), expected);
}

#[test]
fn quic_echo() {
    let mut expected: Vec<_> = (0..8).map(|stream| format!("stream {stream}")).collect();
    expected.push("client and server have closed".into());
    assert_eq!(lines_of("quic-echo", &[]), expected);
}

#[test]
fn quic_on_own_sockets() {
    let line = |stream| format!("stream {stream}: 40000 bytes, as sent: true");
    let mut expected: Vec<_> = (0..8).map(line).collect();
    expected.push("client and server have closed".into());
    assert_eq!(lines_of("quic-own-sockets", &[]), expected);
}

#[test]
fn dns() {
    let expected = [
        "host0.example. 192.0.2.0",
        "host1.example. 192.0.2.1",
        "host2.example. 192.0.2.2",
        "12 look-ups, 3 queries",
        "nowhere.example. is unknown",
    ];
    assert_eq!(lines_of("dns", &[]), expected);
}

#[test]
fn tls() {
    let expected = ["the cipher is Some(TLS13_AES_256_GCM_SHA384)", "HELLO", "OVER TLS"];
    assert_eq!(lines_of("tls", &[]), expected);
}

#[test]
fn layers() {
    let lines = lines_of("layers", &[]);
    let [first, second, sizes, third, slow] = &lines[..] else { panic!("{lines:?}") };
    assert!(first.ends_with("status=200") && second.ends_with("status=200"), "{lines:?}");
    let small =
        sizes.strip_prefix("40000 bytes, ").and_then(|rest| rest.strip_suffix(" with gzip"));
    let small: usize = small.and_then(|small| small.parse().ok()).expect(sizes);
    assert!(small < 1000, "{sizes}");
    assert!(third.ends_with("status=408"), "{lines:?}");
    assert_eq!(slow, "the slow page: 408 Request Timeout");
}

#[test]
fn ledger() {
    let lines = lines_of("ledger", &[]);
    assert_eq!(lines[0], "2000 of 2000 transfers are done");
    let transactions = lines[1].strip_prefix("2000 entries in ");
    let transactions = transactions.and_then(|rest| rest.strip_suffix(" transactions"));
    let transactions: u32 = transactions.and_then(|number| number.parse().ok()).expect("a number");
    assert!((1..=2_000).contains(&transactions), "{lines:?}");
    assert_eq!(lines[2], "0 accounts differ between memory and journal");
}

#[test]
fn blocking_websocket() {
    assert_eq!(lines_of("blocking-websocket", &[]), ["CLIENT 199, MESSAGE 9", "2000 messages"]);
}

#[test]
fn blocking_tls() {
    let expected = ["the cipher is Some(TLS13_AES_256_GCM_SHA384)", "HELLO", "OVER TLS"];
    assert_eq!(lines_of("blocking-tls", &[]), expected);
}

/// 13 apples and 12 pears for each customer.
#[test]
fn blocking_sqlite() {
    let expected = ["8 customers, 200 orders, a sum of 696"];
    assert_eq!(lines_of("blocking-sqlite", &[]), expected);
}
