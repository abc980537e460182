//! What a runtime tells of itself.

mod freeze;
mod observe;
mod trace;
mod usage;
