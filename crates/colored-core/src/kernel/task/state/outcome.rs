//! The results of the transitions of a task's state: the action that the caller must take.

/// The action that a wake must take.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The caller has made the task ready and must put it on its lane.
    Schedule,
    /// As `Schedule`, but the task has kept its lane, at whose head it is: the caller must dispatch
    /// that lane.
    Resume,
    /// The owner that may move it will poll it, or no poll is needed.
    Nothing,
    /// As `Nothing`, and the reference given up was the last: the caller must free the task.
    Free,
}

/// The holder's action on a task whose turn has come.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    Poll,
    Cancel,
}

/// The holder's action after a poll that was not ready.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It waits for a wake; it may already run again elsewhere: do not touch it.
    Waiting,
    /// It was woken meanwhile: put it on its lane.
    Reschedule,
}

/// The intention of a task whose poll was not ready.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// To wait.
    Wait,
    /// To be polled again: it has been woken meanwhile.
    Again,
    /// To keep its lane, whether it waits or not.
    Lane,
}

/// The outcome for a task that keeps its lane.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It waits. Task and lane may already run elsewhere: touch neither.
    Waiting,
    /// It was woken meanwhile, and the lane is still the caller's: it has the next turn.
    Again,
    /// Its last section has ended meanwhile: end its poll as any other's. It is still scheduled.
    Over,
}

/// Whether the handle waits for the output that has just been stored.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completed {
    /// There is no handle any more: drop the output.
    DropOutput,
    /// The handle exists but has no waker set.
    Keep,
    /// Wake the joiner.
    WakeJoiner,
}

/// The handle's view of the state.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joinable {
    /// The output is there and is the handle's to take.
    Complete,
    /// Not yet, and the waker is the handle's to write.
    NoWaker,
    /// Not yet, and the waker is shared: it may be read only.
    HasWaker,
}
