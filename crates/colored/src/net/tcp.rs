//! The halves of TCP connections.
//!
//! The sockets are [`TcpStream`], [`TcpListener`] and [`TcpSocket`].

pub use self::halves::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};

pub(super) mod connect;
mod halves;
pub(super) mod keep_alive;
mod limits;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
pub(super) mod listen;
pub(super) mod listener;
mod options;
mod per_worker;
pub(super) mod socket;
pub(super) mod stream;
#[cfg(test)]
mod tests;
mod ttl;

use self::{
    keep_alive::KeepAlive, listen::ListenOptions, listener::TcpListener, socket::TcpSocket,
    stream::TcpStream,
};
