//! A flat event queue: an entry for every task, under one lock.
//!
//! The entries of a lane are [`Ticket`]s that it counts. All those of one lane are in one queue; where there are
//! several queues, it is that of the lane's home, which changes under the lock of the old one only.
//! So whoever holds the lane, and has taken the lock of its queue before, knows by the count of
//! tickets whether one is left.

use crate::lane::{Counted, ReadyLane, Ticket};
use crate::sync::{AtomicUsize, Mutex, Ordering};
use std::collections::VecDeque;

pub(super) struct Flat {
    tickets: Mutex<VecDeque<Counted>>,
    len: AtomicUsize,
}

impl Flat {
    pub(super) fn new() -> Self {
        Self { tickets: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) }
    }

    pub(super) fn push(&self, ticket: Counted) {
        let mut tickets = self.tickets.lock();
        tickets.push_back(ticket);
        self.count(&tickets);
    }

    /// To be called under the lock, after a change.
    fn count(&self, tickets: &VecDeque<Counted>) {
        // Ordering: a hint for `len`.
        self.len.store(tickets.len(), Ordering::Relaxed);
    }

    /// As `push`, if `is_right` says under the lock that this is the queue; else gives it back.
    pub(super) fn push_if(
        &self,
        ticket: Counted,
        is_right: impl FnOnce() -> bool,
    ) -> Option<Counted> {
        let mut tickets = self.tickets.lock();
        if !is_right() {
            return Some(ticket);
        }
        tickets.push_back(ticket);
        self.count(&tickets);
        None
    }

    /// The oldest entry whose color does not run.
    pub(super) fn take(&self) -> Option<ReadyLane> {
        let mut void = Vec::new();
        let mut tickets = self.tickets.lock();
        let found = first(&mut tickets, &mut void);
        self.count(&tickets);
        drop(tickets);
        // The last reference to a lane may be among them.
        drop(void);
        found.map(|(lane, _)| lane)
    }

    /// Takes out the entries of lanes that have become idle.
    pub(super) fn sweep(&self) {
        let mut tickets = self.tickets.lock();
        let (void, rest) = tickets.drain(..).partition(|ticket| ticket.is_void());
        *tickets = rest;
        self.count(&tickets);
        // Under the lock, as `first` does it: what is dropped may be the last reference to a lane.
        let void: Vec<Ticket> = void.into_iter().map(Counted::redeem).collect();
        drop(tickets);
        drop(void);
    }

    /// Takes a color with all its entries: looks for one that does not run, then walks through the
    /// whole queue, all under its lock. `moves` is called there too.
    pub(super) fn steal(&self, into: &Flat, moves: impl FnOnce(&ReadyLane)) -> Option<ReadyLane> {
        let (mut void, mut own) = (Vec::new(), Vec::new());
        let mut tickets = self.tickets.lock();
        let found = first(&mut tickets, &mut void);
        if let Some((lane, _)) = &found {
            moves(lane);
            let color = lane.lane().color();
            for _ in 0..tickets.len() {
                let Some(ticket) = tickets.pop_front() else { break };
                if ticket.is_of_color(color) {
                    own.push(ticket);
                } else {
                    tickets.push_back(ticket);
                }
            }
        }
        self.count(&tickets);
        drop(tickets);
        drop(void);
        if !own.is_empty() {
            let mut tickets = into.tickets.lock();
            tickets.extend(own);
            into.count(&tickets);
        }
        found.map(|(lane, _)| lane)
    }

    /// Whether an entry's color is runnable.
    pub(super) fn has_live(&self) -> bool {
        self.tickets.lock().iter().any(|ticket| ticket.is_live())
    }

    /// How many entries there are; may be out of date.
    pub(super) fn len(&self) -> usize {
        // Ordering: a hint.
        self.len.load(Ordering::Relaxed)
    }
}

/// Takes the right of the first lane that has one, and its entry out; on the way, the entries of lanes
/// that have become idle.
fn first(tickets: &mut VecDeque<Counted>, void: &mut Vec<Ticket>) -> Option<(ReadyLane, Ticket)> {
    let mut place = 0;
    while let Some(ticket) = tickets.get(place) {
        if let Some(lane) = ticket.take() {
            return tickets.remove(place).map(|ticket| (lane, ticket.redeem()));
        }
        if ticket.is_void() {
            void.extend(tickets.remove(place).map(Counted::redeem));
        } else {
            place += 1;
        }
    }
    None
}
