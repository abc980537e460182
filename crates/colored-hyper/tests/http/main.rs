//! Servers and clients on loopback.

mod client;
mod colors;
mod drain;
mod limits;
mod listeners;
mod round_trip;
mod support;
