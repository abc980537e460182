//! TCP.

pub use self::connect::ConnectOptions;
pub use self::halves::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
pub use self::keep_alive::KeepAlive;
pub use self::listen::ListenOptions;
pub use self::listener::TcpListener;
pub use self::socket::TcpSocket;
pub use self::stream::TcpStream;

mod connect;
mod halves;
mod hops;
mod keep_alive;
mod limits;
#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
mod listen;
mod listener;
mod options;
mod per_worker;
mod socket;
mod stream;
#[cfg(test)]
mod tests;
