//! Sockets of the system or of a simulated network: which one is decided by the runtime that a socket is made in.

mod either;
mod tcp;
mod udp;
#[cfg(unix)]
mod unix;

pub(in crate::net) use self::tcp::{
    TcpListener, TcpStream, Unconnected, begin_connect, bind, listen, local_addr, unconnected,
};
pub(in crate::net) use self::udp::{UdpSocket, peek_sender, udp_into_std};
#[cfg(unix)]
pub(in crate::net) use self::unix::{UnixListener, UnixStream, accept_unix};

use crate::services::current;
use crate::world::network::address;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

/// The addresses of a host of the simulation; none outside of one.
pub(in crate::net) fn look_up_simulated(
    name: &str,
    port: u16,
) -> Option<io::Result<Vec<SocketAddr>>> {
    let world = &current::host()?.world;
    if name.contains('\0') {
        let text = format!("cannot resolve host {name:?}: a name has no zero byte");
        return Some(Err(io::Error::new(io::ErrorKind::InvalidInput, text)));
    }
    let ip = match (name, world.number_of(name)) {
        (_, Some(host)) => address::v4(host),
        ("localhost", None) => Ipv4Addr::LOCALHOST.into(),
        _ => {
            let hosts = world.names().join(", ");
            let text =
                format!("cannot resolve host {name:?}: the hosts of this simulation are {hosts}");
            return Some(Err(io::Error::new(io::ErrorKind::NotFound, text)));
        }
    };
    Some(Ok(vec![SocketAddr::new(ip, port)]))
}
