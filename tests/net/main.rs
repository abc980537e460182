//! Sockets under load, many at a time, and with the helpers of `io`.

#[cfg(target_os = "linux")]
mod descriptors;
mod flood;
#[cfg(target_os = "linux")]
mod generated;
mod helpers;
mod many;
#[cfg(target_os = "linux")]
mod per_worker;
#[cfg(target_os = "linux")]
mod registrations;
