//! Connections, and their single directions.

use super::TcpStream;
use super::tcp::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
#[cfg(unix)]
use super::{UnixStream, unix};

/// A connection, or one direction of it.
pub(super) trait Direction {
    type Stream;

    fn stream(&self) -> &Self::Stream;
}

macro_rules! streams {
    ($($stream:ty),*) => {$(
        impl Direction for $stream {
            type Stream = $stream;

            fn stream(&self) -> &$stream {
                self
            }
        }

        impl Direction for &$stream {
            type Stream = $stream;

            fn stream(&self) -> &$stream {
                self
            }
        }
    )*};
}

macro_rules! halves {
    ($stream:ty; $($half:ty),*) => {$(
        impl Direction for $half {
            type Stream = $stream;

            fn stream(&self) -> &$stream {
                self.as_ref()
            }
        }
    )*};
}

streams!(TcpStream);
#[cfg(unix)]
streams!(UnixStream);
halves!(TcpStream; ReadHalf<'_>, WriteHalf<'_>, OwnedReadHalf, OwnedWriteHalf);
#[cfg(unix)]
halves!(UnixStream; unix::ReadHalf<'_>, unix::WriteHalf<'_>);
#[cfg(unix)]
halves!(UnixStream; unix::OwnedReadHalf, unix::OwnedWriteHalf);

/// Calls a macro with everything that can be read.
macro_rules! for_readers {
    ($implement:ident) => {
        $implement!(
            $crate::net::TcpStream,
            &$crate::net::TcpStream,
            $crate::net::tcp::ReadHalf<'_>,
            $crate::net::tcp::OwnedReadHalf
        );
        #[cfg(unix)]
        $implement!(
            $crate::net::UnixStream,
            &$crate::net::UnixStream,
            $crate::net::unix::ReadHalf<'_>,
            $crate::net::unix::OwnedReadHalf
        );
    };
}

/// Calls a macro with everything that can be written.
macro_rules! for_writers {
    ($implement:ident) => {
        $implement!(
            $crate::net::TcpStream,
            &$crate::net::TcpStream,
            $crate::net::tcp::WriteHalf<'_>,
            $crate::net::tcp::OwnedWriteHalf
        );
        #[cfg(unix)]
        $implement!(
            $crate::net::UnixStream,
            &$crate::net::UnixStream,
            $crate::net::unix::WriteHalf<'_>,
            $crate::net::unix::OwnedWriteHalf
        );
    };
}

pub(super) use {for_readers, for_writers};
