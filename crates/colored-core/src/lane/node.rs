//! Nodes: what each kind does in its turn, and what remains to be done when it is out of the chain.
//!
//! The code of a kind is in its own file: `poll.rs` for tasks, `callback.rs`, `behavior.rs` for claims, and `readers/`.
//! A new kind needs an arm in [`Turn::run`] and one in [`finish`].

use crate::lane::current::Hold;
use crate::lane::held::{Head, Held};
use crate::lane::readers::admit;
use crate::lane::slice::{CLOSURE_WEIGHT, POLL_WEIGHT};
use crate::lane::{LanePtr, Runner, behavior, callback, poll};
use crate::queue::Kind;
use crate::task::TaskRef;

/// What becomes of a head that has had its turn.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lane) enum Then {
    /// The head leaves the chain.
    Done,
    /// The head goes behind all other nodes.
    Again,
    /// The head stays, and keeps the lane while it waits.
    Keep,
    /// The lane has been given away: this thread does not hold it any more.
    Took,
    /// The turn could not begin: a producer behind the head is half done.
    Stalled,
}

/// The turn of the node at the head of a lane. This thread holds the lane, and may run the node.
pub(in crate::lane) struct Turn<'a> {
    pub(in crate::lane) hold: &'a Hold,
    pub(in crate::lane) head: Head,
    /// Whether everything is to be cancelled.
    pub(in crate::lane) closing: bool,
}

impl Turn<'_> {
    pub(in crate::lane) fn lane(&self) -> Held<'_> {
        self.hold.lane()
    }

    #[inline(always)]
    pub(in crate::lane) fn run(&self) -> Then {
        let node = self.head.node;
        match self.head.kind {
            Kind::Task => {
                let task = self.head.task().expect("it is one");
                // SAFETY: the task is at the head of the lane, and this thread may run it.
                unsafe { poll::run(self.lane(), task, self.closing) }
            }
            Kind::Callback | Kind::Uncounted => {
                // SAFETY: a node of these kinds begins a callback, and this thread holds its lane.
                unsafe { callback::run(node, self.closing) };
                Then::Done
            }
            Kind::Claim => behavior::grant(self),
            Kind::Read => admit::let_in(self),
            Kind::Inline => unreachable!("an inline call is over before its lane is queued"),
        }
    }
}

/// Does what remains after the turn of `head`, and gives its reference to the lane back.
///
/// # Safety
///
/// The node was the head of the lane of `hold`, has had its turn, and is in no chain.
#[inline(always)]
pub(in crate::lane) unsafe fn finish(head: Head, hold: &Hold) {
    let node = head.node;
    match head.kind {
        // SAFETY: the caller promises that the task has had its turn and is in no chain.
        Kind::Task => unsafe { poll::finish(&head, hold) },
        Kind::Callback => {
            hold.owe(-1);
            // SAFETY: the caller promises that the callback has run and is in no chain.
            unsafe { callback::free(node) };
        }
        // SAFETY: the caller promises that the callback has run and is in no chain.
        Kind::Uncounted => unsafe { callback::free(node) },
        // SAFETY: the caller promises that the claim has had its turn and is in no chain.
        Kind::Claim => unsafe { behavior::free(node) },
        Kind::Inline => hold.owe(-1),
        Kind::Read => unreachable!("readers are admitted"),
    }
}

impl Head {
    /// The task, if the node is one.
    #[inline]
    pub(in crate::lane) fn task(&self) -> Option<TaskRef<LanePtr>> {
        // SAFETY: the node is of `Kind::Task`, and the runtime's reference keeps the task up to the end of `finish`.
        (self.kind == Kind::Task).then(|| unsafe { TaskRef::from_node(self.node) })
    }

    /// Whether the thread may run it. A closure that is only to be dropped is dropped on any thread: the thread that
    /// it is pinned to may have gone.
    #[inline]
    pub(in crate::lane) fn may_run(&self, runner: &impl Runner) -> bool {
        runner.may_run(self.pin) || self.kind == Kind::Callback && runner.is_closing()
    }

    /// The share of a slice that its turn takes.
    #[inline]
    pub(in crate::lane) fn weight(&self) -> i64 {
        match self.kind {
            Kind::Callback | Kind::Uncounted => CLOSURE_WEIGHT,
            _ => POLL_WEIGHT,
        }
    }
}
