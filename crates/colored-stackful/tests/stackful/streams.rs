//! Streams that block their task. Each test has one worker: an operation that blocked its thread would never return.

mod bridge;
#[cfg(unix)]
mod pipe;
mod simulated;
mod support;
#[cfg(target_os = "linux")]
mod system_calls;
mod tcp;
mod time_limits;
#[cfg(unix)]
mod unix;
mod unwinding;
