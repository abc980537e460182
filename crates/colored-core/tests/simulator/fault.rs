//! Lies, of which the oracle must find each: a checker that cannot fail checks nothing.

use crate::world::World;

/// A fault that is built into a run on purpose, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// A callback runs on the spot, although another one holds its color.
    Unscheduled,
    /// Two posts change places.
    SwappedPosts,
    /// Two `when`s over the same cells change places.
    SwappedWhens,
    /// A reader looks at a value in the middle of a change.
    ReaderBesideWriter,
    /// A wake-up does not reach its task.
    LostWake,
    /// An unpark does not reach its worker.
    LostUnpark,
    /// A slice begins before the last one of its worker has ended.
    EndlessSlice,
    /// A lane stays in the table.
    LeakedLane,
    /// A future is never dropped.
    ForgottenFuture,
    /// A future is dropped twice.
    DroppedTwice,
    /// A task ends in another way than its handle says.
    WrongOutcome,
    /// From then on the scheduler gives the lowest priority to colors that should be high, and the other way round;
    /// and no task is urgent.
    WrongPriority,
    /// The oracle takes a wait as refused that is not, or the other way round.
    WrongDiagnosis,
    /// A section begins at once, in the poll in which its task gave the color up, although work waits.
    SectionAtOnce,
}

impl Fault {
    /// Whether the run commits this fault now: once, when things have got going.
    pub(crate) fn is_due(self, which: Fault, world: &World) -> bool {
        let due = self == which
            && !world.stock.fault_done.get()
            && world.events() > 2000
            && world.chance.one_in(4);
        if due {
            world.stock.fault_done.set(true);
        }
        due
    }
}
