//! The scheduler's side of the port through which lanes call it.

use super::{Scheduler, local};
use crate::hooks::workers as hooks;
use crate::kernel::color::Color;
use crate::kernel::contain::contain;
use crate::kernel::lane::{Common, Dispatch, Held, Lane, LanePtr, Owner, Priority, ReadyLane};
use crate::kernel::task::TaskPanic;

impl Dispatch for Scheduler {
    #[inline]
    fn common(&self) -> &Common {
        &self.common
    }

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
        local::with(|local| {
            let own = local.filter(|local| std::ptr::eq(local.scheduler(), self));
            let is_kept = owner == Owner::Caller || own.is_some();
            if is_kept {
                // SAFETY: the caller of `retire` owns the references and gives them up.
                unsafe { self.release(lane, refs, own) };
            }
            is_kept
        })
    }

    fn publish(&self, lane: LanePtr) {
        self.table.insert(lane);
    }

    fn spare(&self, color: Color) -> Option<Box<Lane>> {
        local::with(|local| match local {
            Some(local) if std::ptr::eq(local.scheduler(), self) => local.take_spare(color),
            _ => self.take_spare(color),
        })
    }

    fn raise(&self, lane: &Lane, to: Priority) {
        self.move_up(lane, to);
    }

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

    fn count_wait(&self) {
        local::with(|local| match local {
            Some(local) => local.count_wait(),
            None => self.stir(),
        });
    }

    fn show(&self, lane: Held<'_>) {
        hooks::asked(self, lane);
    }

    fn panicked(&self, panic: &TaskPanic<'_>) {
        contain(|| self.park.panicked(self, panic));
    }
}

impl Scheduler {
    /// Counts a task that this thread is about to spawn.
    #[inline]
    pub(super) fn count_spawn(&self) {
        local::with(|local| match local {
            Some(local) if std::ptr::eq(local.scheduler(), self) => {
                local.remote().tasks.add_spawned();
            }
            _ => self.tasks_outside.add_spawned_outside(),
        });
    }

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
