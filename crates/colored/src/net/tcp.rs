//! TCP.

pub use self::connect::ConnectOptions;
pub use self::keep_alive::KeepAlive;
pub use self::listen::ListenOptions;
pub use self::listener::TcpListener;
pub use self::owned::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};
pub use self::split::{ReadHalf, WriteHalf};
pub use self::stream::TcpStream;

mod connect;
mod halves;
mod hops;
mod keep_alive;
mod limits;
mod listen;
mod listener;
mod options;
mod owned;
mod split;
mod stream;
#[cfg(test)]
mod tests;
