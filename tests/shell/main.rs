//! A runtime from its beginning to its end, and what surrounds it.

mod bad_input;
mod blocking;
mod blocking_class;
#[cfg(target_os = "linux")]
mod embedded;
mod enter_guards;
mod entry;
mod environment;
#[cfg(target_os = "linux")]
mod extremes;
mod held;
mod idle;
mod nested;
// A sanitizer's own memory is more than the limit that keeps threads away.
#[cfg(all(target_os = "linux", not(colored_sanitize)))]
mod no_threads;
#[cfg(target_os = "linux")]
mod non_blocking;
#[cfg(unix)]
mod numbers;
mod outlived;
mod panics;
mod paused;
#[cfg(target_os = "linux")]
mod processes;
mod runtimes;
mod shutdown;
#[cfg(target_os = "linux")]
mod signals;
mod sleeps;
mod sockets;
mod stdio;
mod streams;
mod threads;
mod tokio_context;
