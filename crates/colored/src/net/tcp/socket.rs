//! What is a connection, or one direction of it.

use super::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, TcpStream, WriteHalf};

/// A connection, or one direction of it.
pub(in crate::net) trait Socket {
    fn stream(&self) -> &TcpStream;
}

impl Socket for TcpStream {
    fn stream(&self) -> &TcpStream {
        self
    }
}

impl Socket for &TcpStream {
    fn stream(&self) -> &TcpStream {
        self
    }
}

macro_rules! halves {
    ($($half:ty),*) => {$(
        impl Socket for $half {
            fn stream(&self) -> &TcpStream {
                self.as_ref()
            }
        }
    )*};
}

halves!(ReadHalf<'_>, WriteHalf<'_>, OwnedReadHalf, OwnedWriteHalf);

/// Calls a macro with everything that can be read.
macro_rules! for_readers {
    ($implement:ident) => {
        $implement!(
            $crate::net::TcpStream,
            &$crate::net::TcpStream,
            $crate::net::ReadHalf<'_>,
            $crate::net::OwnedReadHalf
        );
    };
}

/// Calls a macro with everything that can be written.
macro_rules! for_writers {
    ($implement:ident) => {
        $implement!(
            $crate::net::TcpStream,
            &$crate::net::TcpStream,
            $crate::net::WriteHalf<'_>,
            $crate::net::OwnedWriteHalf
        );
    };
}

pub(in crate::net) use {for_readers, for_writers};
