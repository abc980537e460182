//! What a worker reaches through its thread: its deque, its `next` slot, its spare lanes.

use super::remote::Remote;
use super::{Handle, Scheduler};
use crate::color::Color;
use crate::lane::{Lane, ReadyLane};
use crate::queue::Deque;
use crate::sync::thread_slot;
use std::cell::{Cell, RefCell};
use std::ptr;

/// Spare lanes a worker keeps: a lane is made and freed with every task of a fresh color.
const SPARES: usize = 256;

/// One worker's own half, as far as it is used from within a poll.
pub(super) struct Local {
    handle: Handle,
    index: usize,
    pub(super) deque: Deque<ReadyLane>,
    spares: RefCell<Vec<Box<Lane>>>,
    /// Events are being handed out: wake nobody before they all are.
    batching: Cell<bool>,
}

thread_slot!(static LOCAL: Cell<*const Local> = Cell::new(ptr::null()));

/// The worker that this thread is, if any.
#[inline]
pub(super) fn with<R>(f: impl FnOnce(Option<&Local>) -> R) -> R {
    let local = LOCAL.with(Cell::get);
    // SAFETY: `Local::enter` borrows what it points to until it takes the pointer out again, on
    // this thread, and `f` cannot keep the reference.
    f(unsafe { local.as_ref() })
}

impl Local {
    pub(super) fn new(handle: Handle, index: usize, deque: Deque<ReadyLane>) -> Self {
        Self { handle, index, deque, spares: RefCell::new(Vec::new()), batching: Cell::new(false) }
    }

    /// Makes this thread the worker while `f` runs.
    #[inline]
    pub(super) fn enter<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Restore(*const Local);
        impl Drop for Restore {
            fn drop(&mut self) {
                LOCAL.with(|local| local.set(self.0));
            }
        }
        let _restore = Restore(LOCAL.with(|local| local.replace(self)));
        f()
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }

    #[inline]
    pub(super) fn scheduler(&self) -> &Scheduler {
        self.handle.scheduler()
    }

    #[inline]
    pub(super) fn remote(&self) -> &Remote {
        &self.scheduler().remotes[self.index]
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// What tasks that only this worker may run are pinned to.
    pub(super) fn pin(&self) -> u32 {
        u32::try_from(self.index + 1).expect("fewer than 2¹⁶ workers")
    }

    /// Takes a lane that this worker has made runnable.
    #[inline]
    pub(super) fn dispatch(&self, lane: ReadyLane, pin: u32) {
        if pin != 0 {
            self.scheduler().send(pin, lane);
            return;
        }
        if let Some(displaced) = self.remote().swap_next(Some(lane)) {
            self.deque.push(displaced);
        }
        self.offer();
    }

    /// Puts a lane behind all others.
    #[inline]
    pub(super) fn requeue(&self, lane: ReadyLane) {
        self.deque.push(lane);
        self.offer();
    }

    /// Wakes a worker if there is more here than this one runs next.
    #[inline]
    fn offer(&self) {
        if self.batching.get() {
            return;
        }
        let runnable = self.deque.len() + usize::from(self.remote().has_next());
        if runnable > 1 {
            self.scheduler().notify();
        }
    }

    /// Runs `f`, which makes many lanes runnable, and wakes others afterwards.
    pub(super) fn batch<R>(&self, f: impl FnOnce() -> R) -> R {
        self.batching.set(true);
        let result = self.enter(f);
        self.batching.set(false);
        self.offer();
        result
    }

    /// A spare lane, made fresh.
    #[inline]
    pub(super) fn reuse(&self, color: Color) -> Option<Box<Lane>> {
        let mut lane = self.spares.borrow_mut().pop()?;
        lane.renew(color);
        Some(lane)
    }

    /// Keeps a lane for `reuse`.
    pub(super) fn keep(&self, lane: Box<Lane>) {
        let mut spares = self.spares.borrow_mut();
        if spares.len() < SPARES {
            spares.push(lane);
        } else {
            // A lane owns its scheduler, and its drop must not run under the borrow.
            drop(spares);
            drop(lane);
        }
    }
}
