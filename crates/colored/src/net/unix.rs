//! Sockets of one machine.

pub use self::datagram::UnixDatagram;
pub use self::listener::UnixListener;
pub use self::stream::UnixStream;

mod address;
mod datagram;
mod listener;
mod stream;
#[cfg(test)]
mod tests;
