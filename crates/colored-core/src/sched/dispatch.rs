//! The scheduler's side of the port through which lanes call it.

use super::{Scheduler, local};
use crate::color::Color;
use crate::contain::contain;
use crate::lane::{
    Closing, Dispatch, Lane, LanePtr, LaneRef, Order, Priority, ReadyLane, SectionKey, Track,
};
use crate::task::TaskRef;
use std::task::Waker;

impl Dispatch for Scheduler {
    #[inline]
    fn dispatch_here(&self, lane: ReadyLane, pin: u32) -> Result<(), ReadyLane> {
        local::with(|local| match local {
            Some(local) if std::ptr::eq(local.scheduler(), self) => {
                local.dispatch(lane, pin);
                Ok(())
            }
            _ => Err(lane),
        })
    }

    fn dispatch(&self, lane: ReadyLane, pin: u32) {
        if pin == 0 {
            self.inject(lane);
        } else {
            self.send(pin, lane);
            self.drain_if_stopped();
        }
    }

    fn wake_behind(&self, waker: Waker) {
        local::with(|local| match local {
            Some(local) if std::ptr::eq(local.scheduler(), self) => {
                local.behind(|| contain(|| waker.wake()));
            }
            _ => contain(|| waker.wake()),
        });
    }

    fn retire_here(&self, lane: LanePtr, refs: usize) -> bool {
        let is_here = local::index_in(self).is_some();
        if is_here {
            // SAFETY: the caller owns the references.
            unsafe { self.release(lane, refs) };
        }
        is_here
    }

    fn retire(&self, lane: LanePtr, refs: usize) {
        // SAFETY: the caller owns the references.
        unsafe { self.release(lane, refs) };
    }

    fn track(&self, lane: LanePtr) -> Result<Track, Closing> {
        self.registry.insert(self.shard(), lane)
    }

    fn enter_section(&self, task: TaskRef<LanePtr>) -> Result<SectionKey, Closing> {
        self.parked_sections.enter(self.shard(), task)
    }

    fn remove_section(&self, section: SectionKey) {
        self.parked_sections.remove(section);
    }

    fn publish(&self, lane: LanePtr) {
        self.table.insert(lane);
    }

    fn now(&self) -> u64 {
        self.park.now()
    }

    fn lanes_at_once(&self) -> usize {
        if self.steals { self.workers() } else { usize::MAX }
    }

    fn is_closing(&self) -> bool {
        Scheduler::is_closing(self)
    }

    fn spare(&self, color: Color) -> Option<Box<Lane>> {
        local::with(|local| match local {
            Some(local) if std::ptr::eq(local.scheduler(), self) => local.reuse(color),
            _ => self.take_spare(color),
        })
    }

    fn order(&self) -> &Order {
        &self.order
    }

    fn has_classes(&self) -> bool {
        self.classes.are_used()
    }

    fn rise(&self, lane: &LaneRef, to: Priority) {
        Scheduler::rise(self, lane, to);
    }
}
