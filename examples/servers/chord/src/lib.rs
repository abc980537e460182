//! Chord and a replicated block store.
//!
//! A ring of nodes, each under a color of its own, that finds the owner of a key in some log2(N)/2 steps ([`Client::look_up`]),
//! keeps values at three processes ([`Client::put`], [`Client::block`], [`Client::record`]), and serves signed trees of files
//! ([`tree`]). The page beside this crate tells how to run it, and what it proves.

mod census;
mod client;
pub mod command;
mod concurrently;
mod contact;
mod demo;
mod error;
mod id;
mod lookup;
mod maintenance;
mod node;
mod peers;
mod process;
mod repair;
mod replicas;
mod retry;
mod routing;
mod service;
mod settings;
mod silence;
mod store;
pub mod tree;
mod value;
mod wire;

pub use self::census::Census;
pub use self::client::Client;
pub use self::concurrently::concurrently;
pub use self::contact::Contact;
pub use self::error::Error;
pub use self::id::Id;
pub use self::lookup::Found;
pub use self::process::Process;
pub use self::settings::{Mistake, Settings};
pub use self::value::{MAX_RECORD, Signer, TooLong, Value};
pub use self::wire::MAX_VALUE;
