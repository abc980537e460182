//! Servers for the tests and benches of the engines, on free ports of the loopback interface, with their data in
//! temporary directories.
//!
//! The programs come by `crates/consumer/fetch-servers`. A test that needs a program which is not there does nothing, unless
//! `COLORED_ALL_PROGRAMS` is set: then it fails.

#![forbid(unsafe_code)]

mod directory;
pub mod effects;
pub mod kafka;
pub mod nats;
pub mod proxy;
mod server;
pub mod suite;

pub use self::directory::Directory;
pub use self::server::find;

// Compiles the code of the page.
#[cfg(doctest)]
#[doc = include_str!("../../GUIDE.md")]
struct Page;
