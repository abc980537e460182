//! The addresses of sockets, by their descriptors.

#[cfg(unix)]
mod unix;

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
    let descriptor = i32::try_from(descriptor).ok()?;
    let local = unix::local(descriptor)?;
    let peer = unix::peer(descriptor).and_then(|peer| peer.as_socket());
    match (local.as_socket(), peer) {
        (None, _) => Some(String::from("a Unix socket")),
        (Some(local), None) => Some(local.to_string()),
        (Some(local), Some(peer)) => Some(format!("{local}, peer {peer}")),
    }
}

#[cfg(not(unix))]
fn text(_: u32) -> Option<String> {
    None
}
