//! The scheduler: workers that own deques of lanes, and steal whole lanes from each other.
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

mod dispatch;
mod enter;
mod guest;
mod handle;
mod idle;
pub(crate) mod local;
pub(crate) mod metrics;
pub(crate) mod remote;
pub(crate) mod scheduler;
mod shutdown;
pub(crate) mod worker;

pub use self::metrics::{InPlace, RunningSlice, WorkerMetrics};
pub use self::scheduler::{
    Destination, Finish, Options, Park, Part, Policy, Rest, Runnable, Scheduler, Unsuitable,
};
pub use self::worker::{Step, Worker, block_in_place, in_own_call};

pub use self::enter::{Entered, Entries, spawn_here};
pub use self::guest::{Nested, spawn_local};
pub use self::handle::SchedulerHandle;
pub use self::shutdown::report_overload;

#[cfg(feature = "sim")]
pub(crate) use self::enter::AllEntered;
pub(crate) use self::enter::with_handle_of_task;
#[cfg(feature = "sim")]
pub(crate) use self::guest::exchange as exchange_block_on;
