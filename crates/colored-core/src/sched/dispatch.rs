//! The scheduler's side of the ports through which lanes call it.

use super::{Scheduler, local};
use crate::color::Color;
use crate::contain::contain;
use crate::lane::behavior::order::HasOrder;
use crate::lane::priority::classes::HasClasses;
use crate::lane::readers::workers::HasWorkers;
use crate::lane::section::key::HasSections;
use crate::lane::{
    Closing, Dispatch, Lane, LanePtr, LaneRef, Observe, Order, Owner, Priority, ReadyLane,
    SectionKey,
};
use crate::meter::{At, Level};
use crate::task::{TaskPanic, TaskRef};
use crate::trace::Event;
use crate::usage::Usage;
use std::task::Waker;

impl Dispatch for Scheduler {
    #[inline]
    fn accept(&self, lane: ReadyLane, pin: u32, owner: Owner) -> Result<(), ReadyLane> {
        if owner == Owner::Caller {
            self.enqueue_from_outside(lane, pin);
            return Ok(());
        }
        local::with(|local| match local {
            Some(local) if std::ptr::eq(local.scheduler(), self) => {
                local.enqueue(lane, pin);
                Ok(())
            }
            _ => Err(lane),
        })
    }

    fn retire(&self, lane: LanePtr, refs: usize, owner: Owner) -> bool {
        let is_kept = owner == Owner::Caller || local::index_in(self).is_some();
        if is_kept {
            // SAFETY: the caller of `retire` owns the references and gives them up.
            unsafe { self.release(lane, refs) };
        }
        is_kept
    }

    fn publish(&self, lane: LanePtr) {
        self.table.insert(lane);
    }

    fn spare(&self, color: Color) -> Option<Box<Lane>> {
        local::with(|local| match local {
            Some(local) if std::ptr::eq(local.scheduler(), self) => local.reuse(color),
            _ => self.take_spare(color),
        })
    }

    fn is_closing(&self) -> bool {
        Scheduler::is_closing(self)
    }

    fn wake_behind(&self, waker: Waker) {
        local::with(|local| match local {
            Some(local) if std::ptr::eq(local.scheduler(), self) => {
                local.behind(|| contain(|| waker.wake()));
            }
            _ => contain(|| waker.wake()),
        });
    }
}

impl Scheduler {
    #[cold]
    fn enqueue_from_outside(&self, lane: ReadyLane, pin: u32) {
        if pin == 0 {
            self.inject(lane);
        } else {
            self.send(pin, lane);
            self.drain_if_stopped();
        }
    }
}

impl Observe for Scheduler {
    fn now(&self) -> u64 {
        Scheduler::now(self)
    }

    #[inline]
    fn noted_time(&self) -> u64 {
        local::with(|local| match local {
            Some(local) if std::ptr::eq(local.scheduler(), self) => local.noted(),
            _ => self.now(),
        })
    }

    #[cold]
    fn recorded(&self) -> Option<At> {
        let now = match self.switch.level() {
            Level::Off => return None,
            Level::Slices => self.noted_time(),
            _ => self.now(),
        };
        Some(self.switch.at(now))
    }

    #[cold]
    fn recorded_now(&self) -> Option<At> {
        (self.switch.level() != Level::Off).then(|| self.switch.at(self.now()))
    }

    fn keep_usage(&self, color: Color, usage: Usage) {
        Scheduler::keep_usage(self, color, usage);
    }

    #[cold]
    fn record(&self, level: Level, event: Event) {
        // What happens in the middle of a poll has the time at which it does: what a critical path is measured by.
        let nanos = || if level < Level::Tasks { self.noted_time() } else { self.now() };
        self.record_at(level, nanos, event);
    }

    fn panicked(&self, panic: &TaskPanic<'_>) {
        contain(|| self.park.panicked(self, panic));
    }
}

impl HasOrder for Scheduler {
    fn order(&self) -> &Order {
        &self.order
    }
}

impl HasWorkers for Scheduler {
    fn lanes_at_once(&self) -> usize {
        if self.steals { self.workers() } else { usize::MAX }
    }
}

impl HasSections for Scheduler {
    fn enter_section(&self, task: TaskRef<LanePtr>) -> Result<SectionKey, Closing> {
        self.parked_sections.enter(self.shard(), task)
    }

    fn remove_section(&self, section: SectionKey) {
        self.parked_sections.remove(section);
    }
}

impl HasClasses for Scheduler {
    fn has_classes(&self) -> bool {
        self.classes.are_used()
    }

    fn rise(&self, lane: LanePtr, to: Priority) {
        // SAFETY: the caller gives a reference.
        let lane = unsafe { LaneRef::from_counted(lane) };
        Scheduler::rise(self, local::index_in(self), lane, to);
    }
}
