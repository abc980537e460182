//! TCP.

pub use self::connect::ConnectOptions;
pub use self::keep_alive::KeepAlive;
pub use self::listen::ListenOptions;
pub use self::listener::TcpListener;
pub use self::owned::{OwnedReadHalf, OwnedWriteHalf, ReuniteError};
#[cfg(any(feature = "futures-io", feature = "hyper"))]
pub(super) use self::socket::{Socket, for_readers, for_writers};
pub use self::split::{ReadHalf, WriteHalf};
pub use self::stream::TcpStream;

mod backoff;
mod connect;
mod convert;
mod fd;
mod gather;
mod halves;
mod hops;
mod keep_alive;
mod limits;
mod listen;
mod listener;
mod options;
mod owned;
mod socket;
mod split;
mod stream;
#[cfg(test)]
mod tests;
mod tokio_io;
mod transfer;
