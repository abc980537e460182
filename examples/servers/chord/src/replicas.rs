//! Where a value is, and how it comes there: the next nodes of different processes.

use crate::contact::Contact;
use crate::error::Error;
use crate::id::Id;
use crate::lookup::Found;
use crate::peers::Peers;
use crate::settings::{Mistake, Settings};
use crate::value::Value;
use crate::wire::{Offered, Stored};

/// The nodes that keep the values of a key, of those that come behind it: the first ones of different processes.
pub(crate) fn choose(successors: &[Contact], settings: &Settings) -> Vec<Contact> {
    let mut chosen: Vec<Contact> = Vec::new();
    for contact in successors {
        let is_other = chosen.iter().all(|known| known.process() != contact.process());
        if is_other || settings.mistake == Mistake::ReplicatesInOneProcess {
            chosen.push(*contact);
        }
        if chosen.len() == settings.replicas {
            break;
        }
    }
    chosen
}

/// Stores a value at all of its replicas.
pub(crate) async fn store(
    peers: &Peers,
    settings: &Settings,
    found: &Found,
    value: &Value,
) -> Result<(), Error> {
    let (mut copies, mut have_all_answered) = (0, true);
    let altered = (settings.mistake == Mistake::AltersValues).then(|| value.altered());
    for replica in choose(&found.successors, settings) {
        match peers.store(replica, altered.as_ref().unwrap_or(value)).await {
            Ok(Stored::Kept) => copies += 1,
            Ok(Stored::OutOfDate) => return Err(Error::OutOfDate),
            Ok(Stored::Full | Stored::Refused) => {}
            Err(_) => have_all_answered = false,
        }
    }
    match settings.replicas {
        wanted if copies >= wanted => Ok(()),
        wanted if have_all_answered => Err(Error::TooFewCopies { copies, wanted }),
        _ => Err(Error::Unreachable(value.key())),
    }
}

/// What is read: a block is the same everywhere, and of a record the newest one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Block,
    Record,
}

/// The value of a key. While the ring is in motion, it may be at any of the next nodes: those that should have it
/// are asked first. For a record, all of those are asked.
///
/// An answer that does not belong to the key counts as none.
pub(crate) async fn fetch(
    peers: &Peers,
    settings: &Settings,
    found: &Found,
    key: Id,
    kind: Kind,
) -> Result<Value, Error> {
    let mut replicas = choose(&found.successors, settings);
    let mut others = found.successors.clone();
    others.retain(|next| !replicas.contains(next));
    for contacts in [&mut replicas, &mut others] {
        contacts.sort_by_key(|contact| peers.is_silent(*contact));
    }
    let mut newest: Option<Value> = None;
    let mut have_all_answered = true;
    for (asked, contact) in replicas.iter().chain(&others).enumerate() {
        let is_enough = kind == Kind::Block
            || asked >= replicas.len()
            || settings.mistake == Mistake::ReadsAnyRecord;
        if newest.is_some() && is_enough {
            break;
        }
        let fetched = peers.fetch(*contact, key).await;
        have_all_answered &= fetched.is_ok();
        let Ok(Some(bytes)) = fetched else { continue };
        let value = match settings.mistake {
            Mistake::TrustsReplies => Some(Value::unverified(key, bytes)),
            _ => Value::verify(key, bytes),
        };
        let known = newest.as_ref().map(Value::sequence);
        newest =
            value.filter(|value| known.is_none_or(|known| known < value.sequence())).or(newest);
    }
    newest.ok_or(match have_all_answered {
        true => Error::NotFound(key),
        false => Error::Unreachable(key),
    })
}

/// How many of the nodes that should have the value have it.
pub(crate) async fn count_copies(
    peers: &Peers,
    settings: &Settings,
    found: &Found,
    offered: Offered,
) -> usize {
    let mut copies = 0;
    for replica in choose(&found.successors, settings) {
        copies += usize::from(peers.offer(replica, &[offered]).await == Ok(0));
    }
    copies
}
