//! The simulated network, from the program that is simulated: partitions.
//!
//! The sockets are those of `colored::net`. A host has the addresses that a look-up of its name gives, and
//! names are looked up at no cost. A packet takes 0.5 ms to another host, and none to its own host. Streams lose
//! nothing: while nothing arrives from one host at another, by a partition or because that host is down, the system of
//! the sender repeats what was sent, 200 ms after it would arrive again; it gives up after 924 s, and after 127 s if it
//! is a connect, and the sender's operation fails with `TimedOut`.
//!
//! Results and errors, with their numbers, are those of Linux; a test asks both the same questions (`tests/sim/same.rs`). So a
//! listener at `[::]` shows peers of IPv4 in mapped form, what waits at a UDP socket outlives its `connect`, a port lingers for
//! 60 s at the side that ended a connection first (`SO_REUSEADDR` permits to bind to it), and the path of a Unix socket is a
//! file in the tree of the host, which outlives its listener. Of the socket options, `SO_REUSEADDR`, `SO_REUSEPORT` and
//! `IPV6_V6ONLY` of a TCP socket have an effect; the others are kept, and have none.
//!
//! # Examples
//!
//! ```
//! use colored::net::UdpSocket;
//! use colored::sim;
//! use colored::time::{Duration, timeout};
//!
//! async fn echo() {
//!     let socket = UdpSocket::bind("0.0.0.0:7").await.unwrap();
//!     let mut buf = [0; 16];
//!     loop {
//!         let (len, from) = socket.recv_from(&mut buf).await.unwrap();
//!         socket.send_to(&buf[..len], from).await.unwrap();
//!     }
//! }
//!
//! let report = sim::Builder::new().seeds(0..10).host("a", echo).run(|| async {
//!     let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
//!     let mut buf = [0; 16];
//!     sim::net::partition("main", "a");
//!     socket.send_to(b"lost", "a:7").await.unwrap();
//!     assert!(timeout(Duration::from_secs(1), socket.recv(&mut buf)).await.is_err());
//!     sim::net::heal("main", "a");
//!     socket.send_to(b"hello", "a:7").await.unwrap();
//!     assert_eq!(socket.recv(&mut buf).await.unwrap(), 5);
//! });
//! report.assert_passed();
//! ```

use super::host::host;

/// From now on nothing arrives from either of the hosts at the other, until [`heal`]. Packets under way count as sent
/// afterwards.
///
/// # Panics
///
/// If there is no host of a name, and outside of a simulation.
#[track_caller]
pub fn partition(one: &str, other: &str) {
    partition_one_way(one, other);
    partition_one_way(other, one);
}

/// As [`partition`], one way: what `to` sends arrives at `from`. A stream needs both ways, so data that arrives fills the
/// buffers of its sender, who hears of no room.
///
/// # Panics
///
/// As [`partition`].
#[track_caller]
pub fn partition_one_way(from: &str, to: &str) {
    let (from, to) = (host(from), host(to));
    from.world.network().cut(from.number, to.number);
}

/// Ends all partitions between the two hosts.
///
/// # Panics
///
/// As [`partition`].
#[track_caller]
pub fn heal(one: &str, other: &str) {
    let (one, other) = (host(one), host(other));
    let mut network = one.world.network();
    network.heal(one.number, other.number);
    network.heal(other.number, one.number);
}

/// Ends all partitions.
///
/// # Panics
///
/// Outside of a simulation.
#[track_caller]
pub fn heal_all() {
    host(super::hosts::MAIN).world.network().heal_all();
}
