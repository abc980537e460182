//! The guests of a scheduler, as other threads see them: threads inside `block_on` (`guest.rs`).

use super::remote::pin_of;
use crate::kernel::lane::ReadyLane;
use crate::sync::{Arc, Condvar, Mutex};
use std::collections::VecDeque;

/// The threads that are inside `block_on`.
pub(crate) struct Guests {
    slots: Mutex<Slots>,
    first: u32,
}

#[derive(Default)]
struct Slots {
    guests: Vec<Option<Arc<Guest>>>,
    /// How many lanes guests have been sent.
    sent: u64,
}

/// A guest as other threads see it.
pub(crate) struct Guest {
    lanes: Mutex<Lanes>,
    came: Condvar,
    pub(crate) pin: u32,
}

#[derive(Default)]
struct Lanes {
    queue: VecDeque<ReadyLane>,
    /// The guest runs no lane.
    waits: bool,
}

impl Guests {
    pub(crate) fn new(workers: usize) -> Self {
        let first = pin_of(workers);
        Self { slots: Mutex::new(Slots::default()), first }
    }

    pub(crate) fn enter(&self) -> Arc<Guest> {
        let slots = &mut self.slots.lock().guests;
        let slot = slots.iter().position(Option::is_none).unwrap_or_else(|| {
            slots.push(None);
            slots.len() - 1
        });
        let guest = Arc::new(Guest {
            lanes: Mutex::new(Lanes::default()),
            came: Condvar::new(),
            pin: self.first + u32::try_from(slot).expect("fewer than 2³¹ guests"),
        });
        slots[slot] = Some(Arc::clone(&guest));
        guest
    }

    pub(crate) fn leave(&self, guest: &Guest) {
        self.slots.lock().guests[(guest.pin - self.first) as usize] = None;
    }

    pub(crate) fn put(&self, pin: u32, lane: ReadyLane) {
        let mut slots = self.slots.lock();
        let guest = slots.guests[(pin - self.first) as usize].clone();
        let guest = guest.expect("a guest stays until all that is pinned to it is done");
        // In one step for `at_rest`.
        slots.sent += 1;
        guest.lanes.lock().queue.push_back(lane);
        drop(slots);
        guest.came.notify_one();
    }

    /// A number, if no guest runs a lane or has one to run. Of two such moments, the later one has another number if a
    /// guest has run a lane in between.
    pub(crate) fn at_rest(&self) -> Option<u64> {
        let slots = self.slots.lock();
        let mut guests = slots.guests.iter().flatten();
        guests.all(|guest| guest.is_at_rest()).then_some(slots.sent)
    }
}

impl Guest {
    /// The next lane, if there is one. Otherwise the guest counts as waiting from now on.
    pub(crate) fn take(&self) -> Option<ReadyLane> {
        self.lanes.lock().take()
    }

    /// The next lane, when there is one.
    pub(crate) fn wait(&self) -> ReadyLane {
        let mut lanes = self.lanes.lock();
        loop {
            match lanes.take() {
                Some(lane) => return lane,
                None => lanes = self.came.wait(lanes),
            }
        }
    }

    /// Whether the guest runs no lane, and has none to run.
    fn is_at_rest(&self) -> bool {
        let lanes = self.lanes.lock();
        lanes.waits && lanes.queue.is_empty()
    }
}

impl Lanes {
    fn take(&mut self) -> Option<ReadyLane> {
        let lane = self.queue.pop_front();
        self.waits = lane.is_none();
        lane
    }
}
