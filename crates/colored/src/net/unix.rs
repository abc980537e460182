//! Sockets of one machine.

pub use self::listener::UnixListener;
pub use self::stream::UnixStream;

mod address;
mod listener;
mod stream;
#[cfg(test)]
mod tests;
