//! Connecting.

use std::io;
use std::net::SocketAddr;

use super::TcpStream;
use crate::driver::source::Registered;
use crate::io::{Interest, Ready};
use crate::net::ToSocketAddrs;
use crate::net::error::all_failed;

impl TcpStream {
    /// Connects to the first of the addresses that answers. They are tried one after another, in
    /// the order in which they are given or in which the resolver of the system gives them.
    ///
    /// There is no limit of time but that of the system, which may be minutes for each address.
    ///
    /// Cancel safe: dropping the future closes the socket.
    ///
    /// # Errors
    ///
    /// When the name cannot be resolved or no address answers. The error names every address that
    /// was tried with its error; its kind is that of the last.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn connect(addr: impl ToSocketAddrs) -> io::Result<TcpStream> {
        let target = addr.target()?;
        let mut failed = Vec::new();
        for &addr in &*target.resolve().await? {
            match connect_to(addr).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failed.push((addr, error)),
            }
        }
        Err(all_failed("connect to", &target.to_string(), failed))
    }
}

async fn connect_to(addr: SocketAddr) -> io::Result<TcpStream> {
    let socket = mio::net::TcpStream::connect(addr)?;
    let inner = Registered::new(socket, Ready::EMPTY)?;
    inner.io(Interest::WRITABLE, outcome).await?;
    Ok(TcpStream { inner })
}

/// What has become of the connection; `WouldBlock` while that is open.
fn outcome(socket: &mio::net::TcpStream) -> io::Result<()> {
    if let Some(error) = socket.take_error()? {
        return Err(error);
    }
    match socket.peer_addr() {
        // The event was about something else.
        Err(error) if error.kind() == io::ErrorKind::NotConnected => {
            Err(io::ErrorKind::WouldBlock.into())
        }
        other => other.map(|_| ()),
    }
}
