//! The time to live: the option of IPv4, and the hop limit of IPv6.

use std::io;
use std::net::SocketAddr;

use socket2::SockRef;

use super::limits;

/// The limit that counts for a socket with this address.
pub(super) fn get(socket: &SockRef<'_>, local: SocketAddr) -> io::Result<u32> {
    if is_v4(local) { socket.ttl_v4() } else { socket.unicast_hops_v6() }
}

/// Sets it, by the method `name`.
pub(super) fn set(
    name: &str,
    socket: &SockRef<'_>,
    local: SocketAddr,
    hops: u32,
) -> io::Result<()> {
    let hops = limits::hops(name, hops)?;
    if is_v4(local) { socket.set_ttl_v4(hops) } else { socket.set_unicast_hops_v6(hops) }
}

/// Sets it for the connections that a listener accepts, by either protocol where it listens for both.
pub(super) fn set_for_accepted(
    name: &str,
    listener: &SockRef<'_>,
    local: SocketAddr,
    hops: u32,
) -> io::Result<()> {
    set(name, listener, local, hops)?;
    if !is_v4(local) && !listener.only_v6()? {
        // The BSDs have no such option on a socket for both: there it stays the system's.
        let _for_v4 = listener.set_ttl_v4(hops);
    }
    Ok(())
}

/// Whether a socket with this address sends by IPv4. One that was accepted by a listener for both has
/// the address of an IPv6 socket.
fn is_v4(local: SocketAddr) -> bool {
    match local {
        SocketAddr::V4(_) => true,
        SocketAddr::V6(local) => local.ip().to_ipv4_mapped().is_some(),
    }
}
