//! A row for each library: hundreds of operations under colors, with a witness after each await, and a peer that goes away.
//!
//! Those on our own sockets run without tokio's runtime.

mod blocking;
mod dns;
mod grpc;
mod http_client;
mod layers;
mod quic;
mod sockets;
mod sqlite;
mod streams;

use crate::support::{alone, with_tokio};

/// What a task does in turn.
const EACH: u64 = 50;

/// Returns the number of visits that the witnesses have seen.
type Many = fn() -> u64;

#[test]
fn hundreds_of_operations_of_each_library_keep_their_colors() {
    let rows: [(&str, u64, Many); 12] = [
        ("tokio's sockets", 8 * 2_001, || with_tokio(sockets::many())),
        ("reqwest, axum", 2_000, || with_tokio(http_client::many())),
        ("tonic", 1_000, || with_tokio(grpc::many())),
        ("sqlx, SQLite", 1_000, || with_tokio(sqlite::many())),
        ("tokio-tungstenite", 1_000, || alone(streams::websockets())),
        ("tokio-rustls", 1_000, || alone(streams::tls())),
        ("quinn", 2_000, || with_tokio(quic::many())),
        ("hickory-resolver", 1_000, || with_tokio(dns::many())),
        ("tower-http", 1_000, || with_tokio(layers::many())),
        ("tungstenite", 2_000, || alone(blocking::websockets())),
        ("rustls", 1_000, || alone(blocking::tls())),
        ("rusqlite", 400, || alone(blocking::sqlite())),
    ];
    for (library, expected, many) in rows {
        println!("{library}");
        assert_eq!(many(), expected, "{library}");
    }
}

#[test]
fn a_peer_that_goes_away_is_an_error_of_each_library() {
    let rows: [(&str, fn()); 12] = [
        ("tokio's sockets", || with_tokio(sockets::gone())),
        ("reqwest", || with_tokio(http_client::gone())),
        ("tonic", || with_tokio(grpc::gone())),
        ("sqlx, SQLite", || with_tokio(sqlite::gone())),
        ("tokio-tungstenite", || alone(streams::websocket_gone())),
        ("tokio-rustls", || alone(streams::tls_gone())),
        ("quinn", || with_tokio(quic::gone())),
        ("hickory-resolver", || with_tokio(dns::gone())),
        ("tower-http", || with_tokio(layers::gone())),
        ("tungstenite", || alone(blocking::websocket_gone())),
        ("rustls", || alone(blocking::tls_gone())),
        ("rusqlite", || alone(blocking::sqlite_gone())),
    ];
    for (library, gone) in rows {
        println!("{library}");
        gone();
    }
}
