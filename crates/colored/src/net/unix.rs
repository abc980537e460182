//! Parts of the sockets of one machine, the halves of their connections, and pipes.
//!
//! The sockets are [`UnixStream`](super::UnixStream), [`UnixListener`](super::UnixListener) and
//! [`UnixDatagram`](super::UnixDatagram).

pub use self::credentials::UCred;
pub use self::halves::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use std::os::unix::net::SocketAddr;

pub(super) mod address;
pub(crate) mod credentials;
pub(super) mod datagram;
mod halves;
pub(super) mod listener;
pub mod pipe;
mod resend;
pub(super) mod stream;
#[cfg(test)]
mod tests;
