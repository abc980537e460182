//! The addresses of sockets, by their descriptors.

use std::collections::HashMap;

/// The most descriptors of which a dump asks the system: a microsecond each.
const MOST: usize = 10_000;

/// What is known of these descriptors. A descriptor that was closed meanwhile, and is another one's now, is described as
/// what it is now.
pub(super) fn of(descriptors: impl Iterator<Item = u32>) -> HashMap<u32, String> {
    let mut all: Vec<_> = descriptors.collect();
    all.sort_unstable();
    all.dedup();
    let known = all.into_iter().take(MOST).filter_map(|number| Some((number, text(number)?)));
    known.collect()
}

#[cfg(unix)]
fn text(descriptor: u32) -> Option<String> {
    use nix::sys::socket::{SockaddrStorage, getpeername, getsockname};
    let descriptor = i32::try_from(descriptor).ok()?;
    let local: SockaddrStorage = getsockname(descriptor).ok()?;
    let peer: Option<SockaddrStorage> = getpeername(descriptor).ok();
    let ip = local.as_sockaddr_in().is_some() || local.as_sockaddr_in6().is_some();
    match peer {
        _ if !ip => Some(String::from("a Unix socket")),
        None => Some(local.to_string()),
        Some(peer) => Some(format!("{local}, peer {peer}")),
    }
}

#[cfg(not(unix))]
fn text(_: u32) -> Option<String> {
    None
}
