//! What TCP promises, over loopback.

mod accept;
mod connect;
#[cfg(unix)]
mod descriptors;
mod shutdown;
mod stream;
