//! The proof by `kill -9` on real engines: members, each a process, handle numbered records, while they are killed,
//! stopped for longer than their session, asked to end, and joined by others, and while the server is killed and started
//! again. Then all effects are checked.
//!
//! `COLORED_CONSUMER_PROOF=100000` sets how many records there are.

#[path = "../../../consumer/tests/proof/check.rs"]
mod check;
mod fence;
mod jetstream;
mod kafka;
mod plan;
#[path = "../../../consumer/tests/proof/process.rs"]
mod process;
