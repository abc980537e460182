//! Against programs of others, from Debian's packages: servers for our clients, and clients for our servers.
//!
//! A test whose program is missing says so and passes. With `COLORED_ALL_PROGRAMS=1` it fails.

mod browser;
mod clients;
mod exactly_once;
mod nats;
mod nginx;
mod postgres;
mod program;
mod redis;
mod server;
