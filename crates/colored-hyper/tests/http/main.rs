//! Servers and clients on loopback.

mod client;
mod colors;
mod drain;
mod limits;
mod round_trip;
mod support;
