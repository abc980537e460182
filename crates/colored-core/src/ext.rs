//! What the kernel does not need: listeners to its moments ([`hooks`](crate::hooks)), and operations on top of it.
//!
//! `ext` imports the kernel, and the kernel nothing of `ext`.

pub(crate) mod deadlock;
pub mod dump;
pub(crate) mod exclusive;
mod exclusive_cell;
pub(crate) mod leaf;
pub(crate) mod locals;
pub(crate) mod meter;
pub(crate) mod observe;
pub(crate) mod points;
pub(crate) mod policy;
pub(crate) mod priority;
mod sketch;
pub(crate) mod snapshot;
pub(crate) mod span;
pub(crate) mod stacks;
pub mod trace;
pub(crate) mod usage;
