//! The port to the crates above the core, for features that the scheduler need not know.
//!
//! | item | purpose | implemented by | used by |
//! |---|---|---|---|
//! | [`Room`] | answers the search for deadlocks: how can there be room? | each kind of room | the core |
//! | [`RoomWait`], [`How`] | the record of a wait for room, in the task that waits | the core | the queue of a room |
//! | [`note`], [`forget`] | the wait of a task for a leaf, such as a socket | the core | sockets and timers |
//! | [`WaitId`] | the argument of [`Room::take_waker`] | the core | the queue of a room |
//! | [`Ways`], [`WaitingTask`] | the answer of [`Room::ways`] | the core | each kind of room |
//! | [`call_now`], [`call_from`], [`is_scheduled`] | a call of a cell, with a difference between a closure that runs at once and one that waits for its turn | the core | a cell with a limit |
//! | [`Finish`], [`Part`] | work that the end of a runtime waits for; handed over by [`Scheduler::finish_first`](crate::Scheduler::finish_first) | each stage | the shell |
//! | [`report_overload`] | tells the shell that work was refused | the core | an admission |
//! | [`restart_ids`], [`SimulatedIds`] | equal schedules of a simulation have equal task ids and unique colors | the core | the simulation |
//! | `on_points`, `Point` | a simulation sees and interrupts what a thread does to other colors; with the feature `sim` | the core | the simulation |
//! | [`on_unheard_panics`] | a simulation hears of each panic of which nobody else will | the core | the simulation |
//! | [`exchange_with_stacks`], [`StackLocal`], `StackLocals` | a thread runs several stacks, as if each were a thread: what thread-locals tell of a stack is exchanged with it | the core | the simulation; what has such thread-locals |
//! | [`is_optimized`] | tells whether the compiler has optimized this crate | the core | reports of simulations |
//! | [`in_own_call`] | a call of the system inside a poll, which is no matter of the program | the core | attempts that files make on a worker |
//! | [`Closure`], [`Nesting`] | a closure that must return in its turn; where a stack may be suspended | the core | task-locals; tasks with stacks of their own |
//! | [`sync`] | atomics and locks that the models see: `std`'s or loom's | the core | everything above that has models |
//!
//! The port is safe. A kind of wait that is added here owns what its record points to, as [`RoomWait`] does, so that
//! the crates above need no `unsafe`.
//!
//! [`Address`](crate::Address) and [`Scheduler`](crate::Scheduler) belong to the public interface of the core: a color
//! of a scheduler, and its clock.

pub use crate::ext::deadlock::room::{RoomWait, WaitingTask};
#[cfg(feature = "sim")]
pub use crate::ext::points::{Moment, Point, on_points};
pub use crate::ext::stacks::{Kept, OfStack, StackLocal, exchange_with_stacks};
#[cfg(feature = "sim")]
pub use crate::ext::stacks::{StackLocals, begin_stacks};
pub use crate::kernel::lane::current::{Closure, Nesting};
pub use crate::kernel::sched::{Finish, Part, in_own_call, report_overload};
pub use crate::kernel::task::{How, on_unheard_panics};
pub use crate::kernel::wait::{Room, WaitId, Ways, forget, note};

use crate::kernel::cell::{AccessError, Call, ColorCell};
use crate::kernel::color::Color;
use crate::kernel::task::Id;
use std::hint::black_box;
use std::panic::Location;

/// The types of `crate::sync` that the crates above use.
pub mod sync {
    pub use crate::sync::{Arc, AtomicU64, AtomicUsize, Mutex, MutexGuard, Ordering};
}

/// The next id of a task, and the next unique color, of a run of a simulation. They are far above all others. And which run it
/// is: several at once have the same ids, and names of tasks of their own.
#[derive(Debug)]
pub struct SimulatedIds {
    run: u64,
    task: u64,
    color: u64,
}

impl SimulatedIds {
    /// The first ones: two simulations of one schedule have the same ids. So all tasks and unique colors of a runtime must
    /// be made by a thread that has the ids.
    #[must_use]
    pub fn first() -> Self {
        let run = Id::next_run();
        Self { run, task: Id::FIRST_SIMULATED, color: Color::FIRST_SIMULATED }
    }

    /// From now on this thread makes these.
    pub fn give_to_thread(self) {
        Id::set_run(self.run);
        Id::set_next(self.task);
        Color::set_next_unique(self.color);
    }

    /// Takes them from this thread, for another one.
    #[must_use]
    pub fn take_from_thread() -> Self {
        let (run, task, color) = (Id::set_run(0), Id::set_next(0), Color::set_next_unique(0));
        Self { run, task, color }
    }
}

/// Lets the ids of tasks and the unique colors of this thread begin anew: see [`SimulatedIds::first`].
pub fn restart_ids() {
    SimulatedIds::first().give_to_thread();
}

/// Runs `f` at once, as [`ColorCell::call`] does if nothing is scheduled under the color and it is idle or the caller's
/// own.
///
/// # Errors
///
/// `f`, if it would have to wait. The inner error is [`AccessError::InUse`].
#[inline]
pub fn call_now<T, R, F>(cell: &ColorCell<T>, f: F) -> Result<Result<R, AccessError>, F>
where
    T: Send + 'static,
    F: FnOnce(&mut T) -> R,
{
    cell.call_now(f).map(|result| result.map_err(AccessError::from))
}

/// As [`ColorCell::call`], for a caller at `site`, and as cancel safe.
pub fn call_from<T, R, F>(
    cell: &ColorCell<T>,
    site: &'static Location<'static>,
    f: F,
) -> Call<T, F, R>
where
    T: Send + 'static,
    F: FnOnce(&mut T) -> R + Send + 'static,
    R: Send + 'static,
{
    cell.call_from(site, f)
}

/// Whether this crate is compiled with optimization. Without it a turn takes some 20 times as long.
#[must_use]
#[inline(never)]
pub fn is_optimized() -> bool {
    #[inline(never)]
    fn address(of: &mut [u8; 64]) -> usize {
        black_box(of).as_ptr().addr()
    }
    // Without, each variable of a function has a place of its own.
    let one = {
        let mut bytes = [black_box(0); 64];
        address(&mut bytes)
    };
    let other = {
        let mut bytes = [black_box(0); 64];
        address(&mut bytes)
    };
    one == other
}

/// Whether the closure of a call is scheduled under the color, or has had its turn.
pub fn is_scheduled<T: Send + 'static, F, R>(call: &Call<T, F, R>) -> bool {
    call.is_scheduled()
}

// Under a sanitizer a variable has a place of its own in any case.
#[cfg(all(test, not(colored_loom), not(miri), not(colored_sanitize)))]
mod tests {
    #[test]
    fn the_workspace_optimizes_the_core() {
        assert!(super::is_optimized());
    }
}
