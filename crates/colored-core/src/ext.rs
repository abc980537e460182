//! What the kernel does not need: readers of its moments ([`hooks`](crate::hooks)), and operations on top of it.
//!
//! `ext` imports the kernel, and the kernel nothing of `ext`.

pub(crate) mod observe;
pub(crate) mod points;
#[cfg(feature = "record")]
pub(crate) mod replay;
#[cfg(not(feature = "record"))]
#[path = "ext/replay/absent.rs"]
pub(crate) mod replay;
