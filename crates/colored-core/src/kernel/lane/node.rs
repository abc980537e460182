//! Nodes: what each kind does in its turn, and what remains to be done when it is out of the chain.
//!
//! The code of a kind is in its own file: `poll.rs` for tasks, `callback.rs`, `behavior.rs` for claims, and `readers/`.
//! A new kind needs an arm in [`run`] and one in [`finish`].

use crate::kernel::lane::base::AfterTurn;
use crate::kernel::lane::current::Hold;
use crate::kernel::lane::held::{Head, Turn};
use crate::kernel::lane::readers::admit;
use crate::kernel::lane::runner::{CLOSURE_WEIGHT, POLL_WEIGHT, Runner};
use crate::kernel::lane::{behavior, callback, poll};
use crate::kernel::queue::Kind;
use crate::kernel::task::EndedTurn;

/// The turn of the node at the head.
#[inline(always)]
pub(in crate::kernel::lane) fn run(hold: &Hold, head: Head, closing: bool) -> AfterTurn {
    // The most frequent kind comes before the table of all.
    // SAFETY: the node is at the head of the lane, and has not had its turn. This thread may run it.
    if let Some(task) = unsafe { head.task_turn(hold) } {
        return poll::run(hold.lane(), task, closing);
    }
    // Only the turns that are functions of their own have it in memory.
    let turn = || Turn { hold, head, closing };
    match head.kind {
        Kind::Callback | Kind::Uncounted => {
            // SAFETY: a node of these kinds begins a callback, and this thread holds its lane.
            unsafe { callback::run(head.node, closing) };
            AfterTurn::Unlink
        }
        Kind::Claim => behavior::grant(&turn()),
        Kind::Read => admit::let_in(&turn()),
        Kind::Task | Kind::Inline => {
            unreachable!("a task is above, and an inline call is over before its lane is queued")
        }
    }
}

/// Does what remains after the turn of `head`, and gives its reference to the lane back.
///
/// # Safety
///
/// The node was the head of the lane of `hold`, has had its turn, and is in no chain.
#[inline(always)]
pub(in crate::kernel::lane) unsafe fn finish(head: Head, hold: &Hold) {
    let node = head.node;
    if let Some(task) = head.task() {
        // SAFETY: the caller promises that the task has had its turn and is in no chain.
        return poll::finish(unsafe { EndedTurn::new(task) }, hold);
    }
    match head.kind {
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
        Kind::Task | Kind::Read => unreachable!("a task is above, and readers are admitted"),
    }
}

impl Head {
    /// Whether the thread may run it. A closure that is only to be dropped is dropped on any thread: the thread that
    /// it is pinned to may have gone.
    #[inline]
    pub(in crate::kernel::lane) fn may_run(&self, runner: &impl Runner) -> bool {
        runner.may_run(self.pin) || self.kind == Kind::Callback && runner.is_closing()
    }

    /// The share of a slice that its turn takes.
    #[inline]
    pub(in crate::kernel::lane) fn weight(&self) -> i64 {
        match self.kind {
            Kind::Callback | Kind::Uncounted => CLOSURE_WEIGHT,
            _ => POLL_WEIGHT,
        }
    }
}
