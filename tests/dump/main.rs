//! Dumps: what a runtime says of its tasks while they run, wait, or are stuck.

mod by_itself;
mod json;
mod kept;
mod million;
mod storm;
mod stuck;
mod waits;
