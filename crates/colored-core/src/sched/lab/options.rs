//! What can be chosen, and what goes together.

use std::fmt;

/// Where runnable lanes wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Queue {
    /// A queue of lanes for each worker. The default.
    #[default]
    PerWorker,
    /// One queue of lanes for all workers: the run queue of stages in staged middleware. A lane goes
    /// to its end when it becomes runnable and after each slice.
    Shared,
    /// One queue for all workers with an entry for each task and callback, under one lock: a flat
    /// event queue. Who takes an entry out runs one poll of its color; entries of colors that run
    /// at the time are passed over. Slices have no meaning.
    SharedTasks,
    /// As [`Queue::SharedTasks`] with a queue for each worker, as libasync-smp had it: a color
    /// belongs to one worker, first the one that schedules it (from outside: its number modulo the
    /// number of workers), and stealing it means to walk through the victim's whole queue under its
    /// lock. The baseline for stealing whole lanes. [`Placement::Waker`] and [`Placement::Home`]
    /// mean the same.
    ///
    /// Neither flat queue knows [`Priority`](crate::Priority): all colors are normal.
    PerWorkerTasks,
}

/// How work gets from one worker to another.
///
/// Nothing is pushed any more once a [`Priority`](crate::Priority) has been named: from then on
/// lanes wait by class, [`Balance::Push`] is as [`Balance::None`], and [`Balance::Hybrid`] as
/// [`Balance::Steal`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Balance {
    /// Receiver-initiated: who has nothing takes half of another worker's lanes. The default.
    #[default]
    Steal,
    /// Not at all: a lane stays with the worker that it was placed on. G6 does not hold then.
    None,
    /// Sender-initiated: a worker whose queue is at least so many lanes longer than the shortest one
    /// hands half of the difference to that worker and wakes it. It looks when it makes a lane
    /// runnable and after each slice, so not in the middle of a long poll: G6 does not hold.
    Push {
        /// Lanes, 1 to 65,536.
        threshold: usize,
    },
    /// Both.
    Hybrid {
        /// As for [`Balance::Push`].
        threshold: usize,
    },
}

/// Which worker a lane goes to when it becomes runnable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Placement {
    /// The one that made it runnable; whichever comes first for what other threads schedule. The
    /// default.
    #[default]
    Waker,
    /// The one on which it last ran.
    Home,
    /// One worker for life: the color's number modulo the number of workers, as in libasync-smp.
    /// Such a lane is neither stolen nor pushed, whatever [`Balance::Steal`] says, and G6 does not
    /// hold. (A call on an idle color still runs on the caller's thread.)
    Pinned,
}

/// The choices of one scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where runnable lanes wait.
    pub queue: Queue,
    /// How work gets from one worker to another.
    pub balance: Balance,
    /// Which worker a lane goes to.
    pub placement: Placement,
    /// Polls in a slice, 1 to 1,000,000.
    pub slice_polls: u32,
    /// Nanoseconds after which a slice ends, 1 µs to 1 s. It is looked at after 8 polls, and after
    /// every one while polls are slow.
    pub slice_nanos: u64,
    /// Whether workers keep the memory of tasks, callbacks and lanes for the next ones.
    pub reuse: bool,
}

/// Polls in a slice.
///
/// `benches/ratio.rs`, `yield_many`: 39 ns with 8, 37 ns with 64 and with 256; the wait behind a
/// saturated color grows with it.
const SLICE_POLLS: u32 = 64;

/// Nanoseconds after which a slice ends even with polls left.
///
/// `benches/ratio.rs`, `makespan`: 50, 200 and 1000 µs do not differ beyond the noise.
const SLICE_NANOS: u64 = 200_000;

impl Default for Options {
    fn default() -> Self {
        Self {
            queue: Queue::default(),
            balance: Balance::default(),
            placement: Placement::default(),
            slice_polls: SLICE_POLLS,
            slice_nanos: SLICE_NANOS,
            reuse: true,
        }
    }
}

/// Why options do not go together, or are out of range: what was given, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsuitable(String);

impl fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unsuitable {}

const MAX_POLLS: u32 = 1_000_000;
const NANOS: std::ops::RangeInclusive<u64> = 1_000..=1_000_000_000;
const MAX_THRESHOLD: usize = 1 << 16;

impl Options {
    /// Whether they are in range and go together.
    ///
    /// # Errors
    ///
    /// If not, naming what was given and what is allowed.
    pub fn check(&self) -> Result<(), Unsuitable> {
        let refuse = |text: String| Err(Unsuitable(text));
        let Self { queue, balance, placement, slice_polls, slice_nanos, .. } = *self;
        if !(1..=MAX_POLLS).contains(&slice_polls) {
            return refuse(format!("slice({slice_polls}, ..): allowed are 1 to {MAX_POLLS} polls"));
        }
        if !NANOS.contains(&slice_nanos) {
            return refuse(format!("slice(.., {slice_nanos} ns): allowed are 1 µs to 1 s"));
        }
        if let Some(threshold) = balance.threshold() {
            if !(1..=MAX_THRESHOLD).contains(&threshold) {
                let range = format!("allowed is a threshold of 1 to {MAX_THRESHOLD} lanes");
                return refuse(format!("balance({balance:?}): {range}"));
            }
            if queue != Queue::PerWorker {
                return refuse(format!(
                    "balance({balance:?}) with queue({queue:?}): lanes are pushed between queues of \
                     lanes; allowed are Steal and None, or queue(PerWorker)"
                ));
            }
            if placement == Placement::Pinned {
                return refuse(format!(
                    "balance({balance:?}) with placement(Pinned): a pinned lane is not pushed; allowed \
                     are Steal and None, or another placement"
                ));
            }
        }
        if matches!(queue, Queue::Shared | Queue::SharedTasks) && placement != Placement::Waker {
            return refuse(format!(
                "placement({placement:?}) with queue({queue:?}): one queue for all has no places; \
                 allowed is Waker, or a queue for each worker"
            ));
        }
        Ok(())
    }

    /// Whether the plain scheduler does what they say.
    pub(crate) fn are_plain(&self) -> bool {
        let plain = Self::default();
        (self.queue, self.balance, self.placement) == (plain.queue, plain.balance, plain.placement)
    }
}

impl Balance {
    pub(super) fn threshold(self) -> Option<usize> {
        match self {
            Balance::Push { threshold } | Balance::Hybrid { threshold } => Some(threshold),
            Balance::Steal | Balance::None => None,
        }
    }

    pub(super) fn steals(self) -> bool {
        matches!(self, Balance::Steal | Balance::Hybrid { .. })
    }
}
