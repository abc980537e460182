//! [`Reader`]: every kind of value that reads from a descriptor, and what becomes of it.

use colored::fs::File;
use colored::io::{AsyncFd, AsyncRead, AsyncReadExt, Interest};
use colored::net::unix::{self, pipe};
use colored::net::{self, TcpStream, UnixStream};
use colored::process::ChildStdout;
use rustix::io::ioctl_fionbio;
use std::fmt;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;

/// Reads from a pipe or a socket.
pub(super) enum Reader {
    Pipe(File),
    Receiver(pipe::Receiver),
    Child(ChildStdout),
    /// A pipe.
    PipeFd(AsyncFd<OwnedFd>),
    Unix(UnixStream),
    UnixHalves(unix::OwnedReadHalf, Option<unix::OwnedWriteHalf>),
    UnixFd(AsyncFd<OwnedFd>),
    /// A Unix socket.
    Socket(File),
    Tcp(TcpStream),
    TcpHalves(net::tcp::OwnedReadHalf, Option<net::tcp::OwnedWriteHalf>),
}

impl Reader {
    /// Waits for a byte.
    pub(super) async fn read(&mut self) -> u8 {
        let stream: &mut (dyn AsyncRead + Unpin + Send) = match self {
            Reader::Pipe(file) | Reader::Socket(file) => file,
            Reader::Receiver(receiver) => receiver,
            Reader::Child(child) => child,
            Reader::Unix(stream) => stream,
            Reader::UnixHalves(half, _) => half,
            Reader::Tcp(stream) => stream,
            Reader::TcpHalves(half, _) => half,
            Reader::PipeFd(fd) | Reader::UnixFd(fd) => {
                let mut byte = [0];
                let read = |fd: &OwnedFd| Ok(rustix::io::read(fd, &mut byte)?);
                assert_eq!(fd.async_io(Interest::READABLE, read).await.unwrap(), 1);
                return byte[0];
            }
        };
        stream.read_u8().await.unwrap()
    }

    /// The same descriptor, in another type of up to three, or taken out of its type and put back. Clones share the mode,
    /// so only one that is alone becomes a blocking one.
    pub(super) async fn convert(self, into: u64, is_alone: bool) -> Reader {
        match (self, into) {
            (Reader::Pipe(file), _) => pipe_of(file.into_std().await.unwrap().into(), into),
            (Reader::Receiver(receiver), 0) if is_alone => {
                pipe_of(receiver.into_blocking_fd().unwrap(), into)
            }
            (Reader::Receiver(receiver), _) => {
                pipe_of(receiver.into_nonblocking_fd().unwrap(), into)
            }
            (Reader::Child(child), _) => pipe_of(child.into_std().await.unwrap().into(), into),
            (Reader::PipeFd(fd), _) => pipe_of(fd.into_inner().unwrap(), into),
            (Reader::Unix(stream), 0) => {
                let (read, write) = stream.into_split();
                Reader::UnixHalves(read, Some(write))
            }
            (Reader::Unix(stream), _) => unix_of(stream.into_std().unwrap().into(), into),
            (Reader::UnixHalves(read, Some(write)), 0) => {
                Reader::Unix(read.reunite(write).unwrap())
            }
            (Reader::UnixHalves(read, _), _) => Reader::UnixHalves(read, None),
            (Reader::UnixFd(fd), _) => unix_of(fd.into_inner().unwrap(), into),
            (Reader::Socket(file), _) => unix_of(file.into_std().await.unwrap().into(), into),
            (Reader::Tcp(stream), 0) => {
                let (read, write) = stream.into_split();
                Reader::TcpHalves(read, Some(write))
            }
            (Reader::Tcp(stream), _) => {
                Reader::Tcp(TcpStream::from_std(stream.into_std().unwrap()).unwrap())
            }
            (Reader::TcpHalves(read, Some(write)), 0) => Reader::Tcp(write.reunite(read).unwrap()),
            (Reader::TcpHalves(read, _), _) => Reader::TcpHalves(read, None),
        }
    }

    /// Another reader of the same open file, where there is one.
    pub(super) async fn try_clone(&mut self) -> Option<Reader> {
        match self {
            Reader::Pipe(file) => Some(Reader::Pipe(file.try_clone().await.unwrap())),
            Reader::Socket(file) => Some(Reader::Socket(file.try_clone().await.unwrap())),
            Reader::PipeFd(fd) => {
                Some(Reader::PipeFd(AsyncFd::new(fd.get_ref().try_clone().unwrap()).unwrap()))
            }
            Reader::UnixFd(fd) => {
                Some(Reader::UnixFd(AsyncFd::new(fd.get_ref().try_clone().unwrap()).unwrap()))
            }
            _ => None,
        }
    }

    /// The system refuses it, and the first registration stays.
    pub(super) fn register_twice(&mut self) {
        if let Reader::PipeFd(fd) | Reader::UnixFd(fd) = self {
            let error = AsyncFd::new(fd.as_raw_fd()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        }
    }
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, number) = match self {
            Reader::Pipe(file) => ("file", file.as_raw_fd()),
            Reader::Receiver(receiver) => ("receiver", receiver.as_raw_fd()),
            Reader::Child(_) => return f.write_str("output of a child"),
            Reader::PipeFd(fd) => ("AsyncFd of a pipe", fd.as_raw_fd()),
            Reader::Unix(stream) => ("Unix socket", stream.as_raw_fd()),
            Reader::UnixHalves(half, _) => ("half of a Unix socket", half.as_ref().as_raw_fd()),
            Reader::UnixFd(fd) => ("AsyncFd of a socket", fd.as_raw_fd()),
            Reader::Socket(file) => ("file of a socket", file.as_raw_fd()),
            Reader::Tcp(stream) => ("TCP socket", stream.as_raw_fd()),
            Reader::TcpHalves(half, _) => ("half of a TCP socket", half.as_ref().as_raw_fd()),
        };
        write!(f, "{kind} {number}")
    }
}

fn pipe_of(descriptor: OwnedFd, into: u64) -> Reader {
    match into {
        0 => Reader::Pipe(File::try_from(descriptor).unwrap()),
        1 => Reader::Receiver(pipe::Receiver::from_owned_fd(descriptor).unwrap()),
        _ => {
            ioctl_fionbio(&descriptor, true).unwrap();
            Reader::PipeFd(AsyncFd::new(descriptor).unwrap())
        }
    }
}

fn unix_of(descriptor: OwnedFd, into: u64) -> Reader {
    match into {
        0 => Reader::Unix(UnixStream::from_std(StdUnixStream::from(descriptor)).unwrap()),
        1 => Reader::UnixFd(AsyncFd::new(descriptor).unwrap()),
        _ => Reader::Socket(File::try_from(descriptor).unwrap()),
    }
}
