//! What a runtime tells of itself.

mod freeze;
#[cfg(unix)]
mod inspect;
mod observe;
#[cfg(target_os = "linux")]
mod programs;
mod trace;
mod usage;
