//! Look-ups: which nodes own a key. The caller asks node after node (iterative look-up).

use crate::contact::Contact;
use crate::error::Error;
use crate::id::Id;
use crate::peers::Peers;
use crate::wire::Step;
use colored::time::timeout;
use std::collections::{BTreeMap, BTreeSet};

/// Nodes that one look-up asks, at most. In a ring of 2^20 nodes it would be some 10.
const MAX_ASKED: usize = 64;

/// Nodes that one look-up keeps in mind: the closest ones.
const MAX_CANDIDATES: usize = 32;

/// Where a key is.
#[derive(Clone, Debug)]
pub struct Found {
    /// The owner of the key and the nodes behind it, clockwise. Not empty.
    pub successors: Vec<Contact>,
    /// The place of the node in front of the key, which has named these.
    pub predecessor: Id,
    /// How many nodes answered.
    pub hops: u32,
}

impl Found {
    /// The owner of the key.
    #[must_use]
    pub fn owner(&self) -> Contact {
        self.successors[0]
    }
}

/// Looks up the owner of a key once, by way of known nodes. Takes five times the deadline of a call at most.
///
/// Cancel safe: a look-up changes nothing.
pub(crate) async fn look_up(peers: &Peers, known: &[Contact], key: Id) -> Result<Found, Error> {
    timeout(peers.max_look_up(), ask_around(peers, known, key)).await.unwrap_or(Err(Error::Lost))
}

/// Goes on behind the first step, which the calling node has made by its own table.
pub(crate) async fn look_up_from(
    peers: &Peers,
    own: Contact,
    first: Step,
    key: Id,
) -> Result<Found, Error> {
    let contacts = first.contacts.0;
    if first.is_last {
        return Ok(Found { successors: contacts, predecessor: own.id(), hops: 0 });
    }
    look_up(peers, &contacts, key).await
}

async fn ask_around(peers: &Peers, known: &[Contact], key: Id) -> Result<Found, Error> {
    let mut candidates = Candidates::new(key);
    candidates.extend(known);
    let mut hops = 0;
    for _ in 0..MAX_ASKED {
        let asked = candidates.take_next(peers).ok_or(Error::Lost)?;
        // Another candidate leads on if this one is gone.
        let Ok(step) = peers.step(asked, key).await else { continue };
        hops += 1;
        let contacts = step.contacts.0;
        if !step.is_last {
            candidates.extend(&contacts);
        } else if !contacts.is_empty() {
            return Ok(Found { successors: contacts, predecessor: asked.id(), hops });
        }
    }
    Err(Error::Lost)
}

/// Nodes in front of a key that have not been asked.
struct Candidates {
    key: Id,
    /// By their distance. That of a node at the key itself is a whole round: it is the last one that leads on.
    waiting: BTreeMap<(bool, Id), Contact>,
    asked: BTreeSet<Id>,
}

impl Candidates {
    fn new(key: Id) -> Self {
        Self { key, waiting: BTreeMap::new(), asked: BTreeSet::new() }
    }

    fn extend(&mut self, contacts: &[Contact]) {
        for contact in contacts {
            if !self.asked.contains(&contact.id()) {
                let place = (contact.id() == self.key, contact.id().distance_to(self.key));
                self.waiting.insert(place, *contact);
            }
        }
        while self.waiting.len() > MAX_CANDIDATES {
            self.waiting.pop_last();
        }
    }

    /// The closest one, of those whose processes have answered if there are any.
    fn take_next(&mut self, peers: &Peers) -> Option<Contact> {
        let answering = self.waiting.iter().find(|(_, contact)| !peers.is_silent(**contact));
        let place = *answering.or(self.waiting.first_key_value())?.0;
        let next = self.waiting.remove(&place)?;
        self.asked.insert(next.id());
        Some(next)
    }
}
