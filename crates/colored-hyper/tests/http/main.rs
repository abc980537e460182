//! Servers and clients on loopback, and on the hosts of a simulation.

#[cfg(feature = "axum")]
mod axum_serve;
#[cfg(target_os = "linux")]
mod bounds;
mod client;
mod colors;
#[cfg(unix)]
mod descriptors;
mod drain;
mod durations;
mod limits;
mod listeners;
#[cfg(target_os = "linux")]
mod per_worker;
mod round_trip;
mod silence;
mod simulated;
mod slow;
#[cfg(target_os = "linux")]
mod smallest;
mod support;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "websocket")]
mod websocket;
