//! What TCP promises, over loopback.

mod accept;
mod connect;
#[cfg(unix)]
mod descriptors;
mod halves;
mod options;
mod shutdown;
mod stream;
