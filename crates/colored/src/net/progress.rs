//! [`Progress`]: how far the bytes of a connection have come, as the system counts.

use std::io;

use super::TcpStream;
#[cfg(unix)]
use super::UnixStream;
#[cfg(any(target_os = "linux", target_os = "android"))]
use crate::driver::reactor::Socket;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system;

/// How far the bytes of a connection have come. Two values differ if and only if bytes have moved between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How many bytes have come from the peer since the connection began, whether they have been read or not. None of a
    /// Unix socket.
    pub received: Option<u64>,
    /// How many bytes the system of the peer has acknowledged since the connection began. None of a Unix socket.
    pub acknowledged: Option<u64>,
    /// How many of the bytes that were written the peer has not acknowledged. Of a Unix socket: the memory, in bytes, of
    /// what the peer has not read.
    pub queued: u64,
}

/// What [`TcpStream::progress`] and [`UnixStream::progress`] do.
macro_rules! progress {
    ($stream:ty, $of:ident) => {
        impl $stream {
            /// How far the bytes of the connection have come. For limits of the time in which a peer makes no progress.
            ///
            /// Readiness does not tell that. Linux reports room when a third of the buffer of a TCP socket is free, and
            /// three quarters of that of a Unix socket: megabytes, for which a slow peer takes minutes. Other systems
            /// report each two KiB, or less.
            ///
            /// Costs one or two system calls.
            ///
            /// # Errors
            ///
            /// [`Unsupported`](io::ErrorKind::Unsupported) but on Linux since 4.1 and on Android, and in a simulation, whose
            /// sockets report each byte of room. Else the system's.
            pub fn progress(&self) -> io::Result<Progress> {
                #[cfg(any(target_os = "linux", target_os = "android"))]
                if !self.socket().is_simulated() {
                    return system::$of(std::os::fd::AsFd::as_fd(self));
                }
                Err(unsupported())
            }
        }
    };
}

progress!(TcpStream, of_tcp);
#[cfg(unix)]
progress!(UnixStream, of_unix);

fn unsupported() -> io::Error {
    let text = "the system does not tell how far the bytes of a connection have come";
    io::Error::new(io::ErrorKind::Unsupported, text)
}

#[cfg(all(test, any(target_os = "linux", target_os = "android")))]
mod tests {
    use super::*;
    use crate::io::{AsyncReadExt, AsyncWriteExt};
    use crate::net::testing::{pair, run};

    /// Fills the buffers of the system.
    fn fill(mut write: impl FnMut(&[u8]) -> io::Result<usize>) -> u64 {
        let mut written = 0;
        while let Ok(n) = write(&[b'x'; 4096]) {
            written += n as u64;
        }
        written
    }

    /// The counts when no acknowledgement is on its way.
    async fn settled(stream: &TcpStream) -> Progress {
        let mut before = stream.progress().unwrap();
        loop {
            crate::time::sleep(std::time::Duration::from_millis(50)).await;
            let after = stream.progress().unwrap();
            if after == before {
                return after;
            }
            before = after;
        }
    }

    #[test]
    fn the_counts_of_tcp_are_of_bytes() {
        run(async {
            let (mut client, mut server) = pair().await;
            assert_eq!(server.progress().unwrap().received, Some(0));
            client.write_all(b"hello").await.unwrap();
            let mut word = [0; 5];
            server.read_exact(&mut word).await.unwrap();
            assert_eq!(server.progress().unwrap().received, Some(5));

            server.writable().await.unwrap();
            let written = fill(|bytes| server.try_write(bytes));
            let before = settled(&server).await;
            assert_eq!(before.acknowledged.unwrap() + before.queued, written);
            assert!(before.queued > 0);
            // Far less than the third of the buffer that readiness waits for.
            let mut some = vec![0; 200_000];
            client.read_exact(&mut some).await.unwrap();
            let mut after = before;
            while after == before {
                after = settled(&server).await;
            }
            assert!(after.acknowledged > before.acknowledged && after.queued < before.queued);
        });
    }

    #[test]
    fn a_unix_socket_tells_what_is_not_read() {
        run(async {
            let (client, server) = UnixStream::pair().unwrap();
            let empty = server.progress().unwrap();
            assert_eq!((empty.received, empty.acknowledged, empty.queued), (None, None, 0));
            fill(|bytes| server.try_write(bytes));
            let full = server.progress().unwrap();
            client.readable().await.unwrap();
            client.try_read(&mut [0; 4096]).unwrap();
            assert!(server.progress().unwrap().queued < full.queued);
        });
    }
}
