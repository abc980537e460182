//! Tests of the TCP types, over loopback.

mod accept;
mod connect;
#[cfg(unix)]
mod descriptors;
mod halves;
mod options;
mod shutdown;
mod socket;
mod stream;
