//! The scheduler: workers that own deques of lanes, and steal whole lanes from each other. Here is its side of the port
//! through which lanes call it: a runnable lane goes to a queue, and a lane to which no reference is left becomes a spare
//! one, or is freed.
//!
//! All threads share [`Scheduler`]; [`Worker`] is one worker's own half, advanced by [`Worker::step`]. The scheduler
//! starts no thread and reads no clock: the caller of `step` chooses the thread, and [`Park`] tells the time. So the
//! same code runs on real threads, under loom, and as sixty-four workers in one thread in virtual time.
//!
//! Where a lane goes when it becomes runnable:
//!
//! | made runnable by | goes to |
//! |---|---|
//! | a worker | its `next` slot; the lane that was there goes to the young end of its deque |
//! | any other thread | the injector |
//! | its next task is pinned | the inbox of that worker or guest |
//! | its slice is over | the young end of the deque of the worker that ran it |
//! | a worker, in a batch of many events | the home queue of the worker that ran it last (`remote.rs`) |
//! | the end of a behavior that it waited for | the worker's own home queue |
//! | any of these, with a [`Policy`] | where the policy says: as above, the home queue of a worker, or the injector |
//!
//! Every task of a color that nothing else uses makes and retires a lane, often on different workers. A lane owns the
//! scheduler, so making a new one would bounce that reference count between the cores: spare lanes are kept for the next
//! color.

mod enter;
mod guest;
mod handle;
mod idle;
pub(crate) mod local;
pub(crate) mod metrics;
pub(crate) mod remote;
pub(crate) mod scheduler;
mod shutdown;
#[cfg(all(test, not(colored_loom)))]
mod tests;
pub(crate) mod worker;

pub use self::metrics::{InPlace, RunningSlice, WorkerMetrics};
pub use self::scheduler::{
    Destination, Finish, Options, Park, Part, Policy, Rest, Runnable, Scheduler, Unsuitable,
};
pub use self::worker::{Step, Worker, WorkerMemory, block_in_place, in_own_call};

pub use self::enter::{Entered, Entries, spawn_here};
pub use self::guest::{Nested, spawn_local};
pub use self::handle::{AbortHandle, JoinHandle, SchedulerHandle};
pub use self::shutdown::report_overload;

#[cfg(feature = "sim")]
pub(crate) use self::enter::AllEntered;
pub(crate) use self::enter::with_handle_of_task;
#[cfg(feature = "sim")]
pub(crate) use self::guest::exchange as exchange_block_on;

use self::local::Local;
use self::scheduler::Routing;
use crate::hooks::slots::Priority;
use crate::hooks::workers as hooks;
use crate::kernel::color::Color;
use crate::kernel::lane::refs::Last;
use crate::kernel::lane::{
    Common, Dispatch, GivenBack, Held, Lane, LanePtr, Owner, ReadyLane, Tenure,
};
use crate::kernel::task::{TaskPanic, contain};

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
        local::with_own(self, |own| match own {
            Some(own) => {
                own.enqueue(lane, pin);
                Ok(())
            }
            None => Err(lane),
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

    fn spare(&self, color: Color, tenure: Tenure) -> Option<Box<Lane>> {
        self.take_spare(color, tenure)
    }

    fn raise(&self, lane: &Lane, to: Priority) {
        self.classes.raise(self, lane, to);
    }

    fn now(&self) -> u64 {
        Scheduler::now(self)
    }

    #[inline]
    fn noted_time(&self) -> u64 {
        local::with_own(self, |own| own.map_or_else(|| self.now(), Local::noted))
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
    /// To be called after a lane was left for one worker, from which others may steal: wakes that worker, or
    /// another.
    pub(crate) fn call_or_notify(&self, worker: usize) {
        if !self.call(worker) && self.steals {
            self.notify();
        }
    }

    /// Makes one worker look again, for a lane that only it may have been given. False if it was not parked: then it
    /// looks before it parks.
    pub(crate) fn call(&self, worker: usize) -> bool {
        let called = self.idle.call(worker);
        if called {
            self.park.unpark(worker);
        }
        called
    }

    /// See [`Dispatch::spare`].
    #[inline(always)]
    fn take_spare(&self, color: Color, tenure: Tenure) -> Option<Box<Lane>> {
        let lane = local::with(|local| match local {
            Some(local) if std::ptr::eq(local.scheduler(), self) => {
                local.spare_lanes.pop(|| &self.spare_lanes)
            }
            _ => self.spare_lanes.pop(),
        });
        let mut lane = lane?;
        lane.renew(color, tenure);
        Some(lane)
    }

    /// Counts a task that this thread is about to spawn.
    #[inline]
    fn count_spawn(&self) {
        local::with_own(self, |own| match own {
            Some(own) => own.remote().tasks.spawned.add(1),
            None => self.tasks_outside.spawned.add_shared(1),
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

    /// Gives back references that were the last when the caller looked. If they still are the last,
    /// frees the lane, or has its values dropped first. `own` is the worker of this scheduler that this thread is.
    ///
    /// # Safety
    ///
    /// The caller owns the references and does not use the lane afterwards.
    #[inline]
    unsafe fn release(&self, lane: LanePtr, refs: usize, own: Option<&Local>) {
        // SAFETY: the caller promises that it owns the references and does not use the lane
        // afterwards.
        let last = match unsafe { lane.release_unpublished(refs) } {
            GivenBack::NotLast => None,
            // SAFETY: the lane is unreferenced, and not in the table, so no thread finds it.
            GivenBack::Last => Some(unsafe { Last::of(lane) }),
            // SAFETY: the answer `Published` says that no reference has been given back, so all are
            // still the caller's.
            GivenBack::Published => unsafe { self.table.release(lane, refs) },
        };
        match last {
            None => {}
            Some(Last::Gone(lane)) => self.recycle(lane, own),
            Some(Last::Kept(lane)) => hooks::color_ends(lane),
        }
    }

    /// The lane has no reference, and is not in the table: the worker keeps it for another color, or this frees it.
    #[inline]
    fn recycle(&self, lane: LanePtr, own: Option<&Local>) {
        // SAFETY: `Last::Gone` names a lane without references, so no thread uses it; every lane that is counted is
        // from `from_box`.
        let mut lane = unsafe { lane.into_box() };
        hooks::retires(self, &mut lane);
        match own {
            Some(own) => own.keep_spare(lane),
            None => drop(lane),
        }
    }

    /// Drops the spare lanes when a worker stops: lanes own the scheduler, so none may stay in it.
    fn drop_spare_lanes(&self) {
        drop(self.spare_lanes.close());
    }
}

impl Local {
    /// Keeps a lane for [`Scheduler::take_spare`], if this worker reuses lanes and there is room.
    #[inline]
    fn keep_spare(&self, lane: Box<Lane>) {
        if self.reuses {
            self.spare_lanes.push(lane, || &self.scheduler().spare_lanes, drop);
        }
    }
}
