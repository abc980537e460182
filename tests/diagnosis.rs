//! What a runtime tells of itself.

mod batch;
mod freeze;
#[cfg(unix)]
mod inspect;
mod observe;
mod trace;
mod usage;
