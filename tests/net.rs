//! Sockets under load, and many at a time.

mod descriptors;
mod flood;
mod many;
#[cfg(target_os = "linux")]
mod per_worker;
