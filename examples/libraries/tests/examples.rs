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
fn quic_on_own_sockets() {
    let line = |stream| format!("stream {stream}: 40000 bytes, as sent: true");
    let mut expected: Vec<_> = (0..8).map(line).collect();
    expected.push("client and server have closed".into());
    assert_eq!(lines_of("quic-own-sockets", &[]), expected);
}
