//! One flat queue: an entry for every event, under one lock.

use super::event::Event;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

#[derive(Default)]
pub(super) struct Queue(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    events: VecDeque<Event>,
    /// The colors of the running events: at most as many as workers.
    running: Vec<u16>,
}

impl Entries {
    /// The first event whose color does not run.
    fn first(&self) -> Option<usize> {
        self.events.iter().position(|event| !self.running.contains(&event.color))
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, event: Event) {
        self.lock().events.push_back(event);
    }

    /// As `push`, if `is_right` returns true under the lock; returns the event otherwise.
    pub(super) fn push_if(
        &self,
        event: Event,
        is_right: impl FnOnce() -> bool,
    ) -> Result<(), Event> {
        let mut entries = self.lock();
        if !is_right() {
            return Err(event);
        }
        entries.events.push_back(event);
        Ok(())
    }

    /// Takes an event, whose color runs from now on. `before` is the color of the event that has run.
    pub(super) fn next(&self, before: Option<u16>) -> Option<Event> {
        let mut entries = self.lock();
        if let Some(place) =
            before.and_then(|color| entries.running.iter().position(|running| *running == color))
        {
            entries.running.swap_remove(place);
        }
        let event = entries.first().and_then(|place| entries.events.remove(place))?;
        entries.running.push(event.color);
        Some(event)
    }

    /// Whether there is an event whose color does not run.
    pub(super) fn has_some(&self) -> bool {
        self.lock().first().is_some()
    }

    /// Moves a color that does not run to another queue, with all its events, and calls `moves` with the
    /// color. False if there is no such color, or the other queue is in use.
    pub(super) fn rob(&self, into: &Self, moves: impl FnOnce(u16)) -> bool {
        let mut entries = self.lock();
        let Some(color) = entries.first().map(|place| entries.events[place].color) else {
            return false;
        };
        // Another thief may hold the other queue, and wait for this one.
        let mut stolen = match into.0.try_lock() {
            Ok(stolen) => stolen,
            Err(TryLockError::Poisoned(stolen)) => stolen.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        moves(color);
        for _ in 0..entries.events.len() {
            let Some(event) = entries.events.pop_front() else { break };
            let to = if event.color == color { &mut stolen } else { &mut entries };
            to.events.push_back(event);
        }
        true
    }

    /// Drops all events, outside the lock.
    pub(super) fn clear(&self) {
        let events = std::mem::take(&mut self.lock().events);
        drop(events);
    }
}
