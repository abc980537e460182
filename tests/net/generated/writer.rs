//! [`Writer`]: the other end of a reader.

use colored::fs::File;
use colored::io::{AsyncWrite, AsyncWriteExt};
use colored::net::unix::pipe;
use colored::net::{TcpStream, UnixStream};
use colored::process::ChildStdin;
use std::fmt;
use std::io::{PipeWriter, Write};
use std::os::fd::{AsRawFd, OwnedFd};

/// Writes to a pipe or a socket.
pub(super) enum Writer {
    Std(PipeWriter),
    Pipe(File),
    Sender(pipe::Sender),
    Child(ChildStdin),
    Unix(UnixStream),
    Tcp(TcpStream),
    /// Only while it is converted.
    None,
}

impl Writer {
    pub(super) async fn write(&mut self, byte: u8) {
        let stream: &mut (dyn AsyncWrite + Unpin + Send) = match self {
            // Nothing is unread: there is room.
            Writer::Std(writer) => return writer.write_all(&[byte]).unwrap(),
            Writer::Pipe(file) => file,
            Writer::Sender(sender) => sender,
            Writer::Child(child) => child,
            Writer::Unix(stream) => stream,
            Writer::Tcp(stream) => stream,
            Writer::None => unreachable!("it was converted"),
        };
        stream.write_all(&[byte]).await.unwrap();
    }

    /// The same descriptor in another type, or taken out of its type and put back.
    pub(super) async fn convert(&mut self) {
        let pipe = |descriptor| Writer::Sender(pipe::Sender::from_owned_fd(descriptor).unwrap());
        *self = match std::mem::replace(self, Writer::None) {
            Writer::Std(writer) => Writer::Pipe(File::try_from(OwnedFd::from(writer)).unwrap()),
            Writer::Pipe(file) => pipe(file.into_std().await.unwrap().into()),
            Writer::Sender(sender) => {
                Writer::Pipe(File::try_from(sender.into_blocking_fd().unwrap()).unwrap())
            }
            Writer::Child(child) => {
                Writer::Pipe(File::from_std(child.into_std().await.unwrap()).unwrap())
            }
            Writer::Unix(stream) => {
                Writer::Unix(UnixStream::from_std(stream.into_std().unwrap()).unwrap())
            }
            Writer::Tcp(stream) => {
                Writer::Tcp(TcpStream::from_std(stream.into_std().unwrap()).unwrap())
            }
            Writer::None => unreachable!("it was converted"),
        };
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, number) = match self {
            Writer::Std(writer) => ("pipe", writer.as_raw_fd()),
            Writer::Pipe(file) => ("file", file.as_raw_fd()),
            Writer::Sender(sender) => ("sender", sender.as_raw_fd()),
            Writer::Child(_) => return f.write_str("input of a child"),
            Writer::Unix(stream) => ("Unix socket", stream.as_raw_fd()),
            Writer::Tcp(stream) => ("TCP socket", stream.as_raw_fd()),
            Writer::None => return f.write_str("nothing"),
        };
        write!(f, "{kind} {number}")
    }
}
