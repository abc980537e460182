//! [`RoutingTable`]: what one node knows of the others. No packets and no time are in here.

use crate::contact::Contact;
use crate::id::Id;
use crate::wire::{Maybe, Neighbours, Row, SUCCESSORS, Step};
use std::collections::BTreeSet;
use std::net::SocketAddrV4;

/// Fingers reach from a half of the ring down to 2^-64 of it.
const FINGERS: u32 = 64;

/// Nodes in a step that is not the last one: if the closest ones are dead, the caller goes on with others.
const CANDIDATES: usize = 8;

/// What a node knows of the others.
#[derive(Debug)]
pub(crate) struct RoutingTable {
    own: Contact,
    predecessor: Option<Contact>,
    /// The next nodes clockwise, the nearest first. Empty if the node is alone.
    successors: Vec<Contact>,
    /// At index i, the first node at 2^(255 - i) or more behind this one.
    fingers: Vec<Option<Contact>>,
    /// The index of the finger that is looked up next.
    next_finger: u32,
    /// A node that may be a closer successor: it was found through another part of the ring.
    candidate: Option<Contact>,
}

impl RoutingTable {
    /// A node with these successors. Without any, the node is a ring of its own.
    pub(crate) fn new(own: Contact, successors: &[Contact]) -> Self {
        let fingers = vec![None; FINGERS as usize];
        let mut table = Self {
            own,
            predecessor: None,
            successors: Vec::new(),
            fingers,
            next_finger: 0,
            candidate: None,
        };
        table.set_successors(successors.iter().copied());
        table
    }

    /// The nearest node clockwise, which is the node itself if it is alone.
    pub(crate) fn successor(&self) -> Contact {
        self.successors.first().copied().unwrap_or(self.own)
    }

    pub(crate) fn predecessor(&self) -> Option<Contact> {
        self.predecessor
    }

    pub(crate) fn neighbours(&self) -> Neighbours {
        let successors = Row(self.successors.clone());
        Neighbours { predecessor: Maybe::from_option(self.predecessor), successors }
    }

    /// Takes the successors, the nearest first, until the row comes round to this node.
    pub(crate) fn set_successors(&mut self, successors: impl IntoIterator<Item = Contact>) {
        let others = successors.into_iter().take_while(|contact| *contact != self.own);
        self.successors = others.take(SUCCESSORS).collect();
    }

    /// Whether the node is between this one and its successor.
    pub(crate) fn is_closer_successor(&self, contact: Contact) -> bool {
        let successor = self.successor();
        let is_between = contact.id().is_within(self.own.id(), successor.id());
        is_between && contact != successor && contact != self.own
    }

    /// A node says that it may be the predecessor.
    pub(crate) fn note_predecessor(&mut self, caller: Contact) {
        let is_closer = |known: Contact| caller.id().is_within(known.id(), self.own.id());
        if caller != self.own && self.predecessor.is_none_or(is_closer) {
            self.predecessor = Some(caller);
        }
    }

    pub(crate) fn note_candidate(&mut self, contact: Contact) {
        if self.is_closer_successor(contact) {
            self.candidate = Some(contact);
        }
    }

    pub(crate) fn has_candidate(&self) -> bool {
        self.candidate.is_some()
    }

    pub(crate) fn take_candidate(&mut self) -> Option<Contact> {
        self.candidate.take()
    }

    /// Removes a node that is no longer there.
    pub(crate) fn forget(&mut self, contact: Contact) {
        self.forget_if(|known| known == contact);
    }

    /// Removes the nodes of a process that does not answer.
    pub(crate) fn forget_process(&mut self, process: SocketAddrV4) {
        self.forget_if(|known| known.process() == process);
    }

    fn forget_if(&mut self, is_gone: impl Fn(Contact) -> bool) {
        self.successors.retain(|known| !is_gone(*known));
        for known in self.fingers.iter_mut().chain([&mut self.predecessor]) {
            *known = known.filter(|known| !is_gone(*known));
        }
    }

    /// A step of a look-up of the key.
    pub(crate) fn step(&self, key: Id) -> Step {
        let mut contacts = self.successors.clone();
        let is_last = key.is_within(self.own.id(), self.successor().id());
        if !is_last {
            contacts = self.closest_before(key);
        } else if contacts.len() < SUCCESSORS {
            // The node knows the whole ring, and is its own last successor.
            contacts.push(self.own);
        }
        Step { is_last, contacts: Row(contacts) }
    }

    fn closest_before(&self, key: Id) -> Vec<Contact> {
        let fingers = self.fingers.iter().flatten();
        let known = fingers.chain(&self.successors).chain(&self.predecessor);
        let before = known.filter(|known| known.id().is_within(self.own.id(), key));
        let before = before.filter(|known| known.id() != key && **known != self.own);
        let by_distance: BTreeSet<_> = before
            .map(|known| (known.id().distance_to(key), known.process(), known.number()))
            .collect();
        let closest = by_distance.into_iter().take(CANDIDATES);
        closest.map(|(_, process, number)| Contact::new(process, number)).collect()
    }

    /// The index of the finger that is looked up next, and the key whose owner it is.
    pub(crate) fn next_finger(&mut self) -> (u32, Id) {
        let distance = self.own.id().distance_to(self.successor().id());
        let start = |index: u32| self.own.id().plus_power(255 - index);
        // From the successor on, all further fingers are the successor.
        if self.own.id().distance_to(start(self.next_finger)) <= distance {
            let (_, unused) = self.fingers.split_at_mut(self.next_finger as usize);
            unused.fill(None);
            self.next_finger = 0;
        }
        let index = self.next_finger;
        let key = self.own.id().plus_power(255 - index);
        self.next_finger = (index + 1) % FINGERS;
        (index, key)
    }

    pub(crate) fn set_finger(&mut self, index: u32, contact: Contact) {
        self.fingers[index as usize] = Some(contact).filter(|contact| *contact != self.own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    /// Nodes in the order of the ring.
    fn ring(count: u16) -> Vec<Contact> {
        let process = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 7000);
        let mut nodes: Vec<_> = (0..count).map(|number| Contact::new(process, number)).collect();
        nodes.sort_by_key(Contact::id);
        nodes
    }

    #[test]
    fn a_step_ends_at_the_predecessor_and_gets_closer_before() {
        let nodes = ring(40);
        let mut table = RoutingTable::new(nodes[0], &nodes[1..]);
        assert_eq!(table.neighbours().successors.0, nodes[1..=SUCCESSORS]);
        let last = table.step(nodes[1].id());
        assert!(last.is_last && last.contacts.0[0] == nodes[1]);
        table.set_finger(0, nodes[30]);
        assert_eq!(table.step(nodes[35].id()).contacts.0[0], nodes[30]);
        // The closest one before the own place, which is the last place to reach.
        let step = table.step(nodes[0].id());
        assert!(!step.is_last && step.contacts.0[0] == nodes[30] && step.contacts.0.len() == 8);
        assert_eq!(table.step(nodes[20].id()).contacts.0[0], nodes[16]);
    }

    #[test]
    fn a_small_ring_comes_round_to_the_node() {
        let nodes = ring(3);
        let round = [nodes[1], nodes[2], nodes[0], nodes[1]];
        let mut table = RoutingTable::new(nodes[0], &round);
        assert_eq!(table.step(nodes[1].id()).contacts.0, round[..3]);
        table.forget(nodes[1]);
        assert_eq!(table.step(nodes[1].id()).contacts.0, [nodes[2], nodes[0]]);
        table.forget_process(nodes[2].process());
        assert_eq!(
            table.step(nodes[1].id()),
            Step { is_last: true, contacts: Row(vec![nodes[0]]) }
        );
    }

    #[test]
    fn only_a_closer_predecessor_replaces_the_known_one() {
        let nodes = ring(4);
        let mut table = RoutingTable::new(nodes[3], &[]);
        for (caller, known) in [(1, 1), (0, 1), (2, 2), (3, 2), (1, 2)] {
            table.note_predecessor(nodes[caller]);
            assert_eq!(table.predecessor(), Some(nodes[known]), "after node {caller}");
        }
        table.forget(nodes[2]);
        table.note_predecessor(nodes[0]);
        assert_eq!(table.predecessor(), Some(nodes[0]));
    }

    #[test]
    fn fingers_begin_again_at_the_successor() {
        let nodes = ring(100);
        let mut table = RoutingTable::new(nodes[0], &nodes[1..]);
        let distance = nodes[0].id().distance_to(nodes[1].id());
        let indices: Vec<_> = (0..30).map(|_| table.next_finger().0).collect();
        let round = indices.iter().skip(1).position(|index| *index == 0).unwrap() + 1;
        let last = nodes[0].id().plus_power(255 - indices[round - 1]);
        assert!(round < 20 && nodes[0].id().distance_to(last) > distance, "{indices:?}");
    }
}
