//! A slice of a lane: a bounded number of turns of the node at its head, then the lane goes back to its worker.
//!
//! # A turn
//!
//! The code of a task's turn is here, and so is what remains when the task is out of the chain. Any other node points to a
//! [`Table`] of its own functions: callbacks, claims of behaviors, readers. A new kind of node is a new table.
//!
//! # The end of a turn, and of a hold
//!
//! The exchange that takes the last node out ends the hold, and from then on another thread may run the lane. So all
//! that needs the hold comes before it: the references taken are counted, and waiting tasks are made known to the
//! scheduler. The rest is about the node alone, which is this thread's until it gives it away.
//!
//! A head behind which a producer is half done cannot leave yet. The lane remembers what becomes of it
//! ([`Held::set_stalled`]), goes back to its worker, and begins with that the next time.
//!
//! # A task that waits and keeps its lane
//!
//! The node stays at the head, and no worker and no queue has the lane. In the exchange that ends the poll, the right
//! to run the lane goes with the right to move the node, to the thread that wakes the task (table in `task/state.rs`).
//! That thread dispatches the lane, whose first turn is the task's again. A node that is pushed meanwhile finds the
//! chain held, and waits behind.
//!
//! A shutdown cannot reach such a lane from behind, for the node that it pushes has no turn. So the task is registered
//! with the scheduler before it waits with its lane for the first time in a section. If the scheduler is shutting down
//! already, the task is aborted here.

use crate::hooks::{self, Act, SliceListener};
use crate::kernel::chain::{Kind, Node, Rotated, Unlinked};
use crate::kernel::lane::base::{AfterTurn, Held, Inner, LanePtr, ReadyLane};
use crate::kernel::lane::current::{self, Head, Hold};
use crate::kernel::lane::refs::LaneRef;
use crate::kernel::task::{Closing, EndedTurn, Kept, Named, TaskRef, TaskTurn, Wants};
use std::ptr::NonNull;
use std::task::Waker;

impl ReadyLane {
    /// Runs the lane until it is idle, `runner` says stop, or the next turn is another thread's.
    pub(crate) fn run(self, runner: &mut impl Runner) -> Slice {
        // SAFETY: `self` is the right to run the lane, so this thread holds it, and the chain has a node, which keeps the
        // lane alive. The hold ends with that right.
        let hold = unsafe { Hold::begin(self.0) };
        let lane = hold.lane();
        hooks::slice_begins(lane, runner.listener());
        let mut stalled = lane.take_stalled();
        let elsewhere = loop {
            let head = lane.head();
            let then = match stalled.take() {
                Some(then) => then,
                None if head.may_run(runner) => turn(&hold, head, runner),
                None => break Some(head.pin),
            };
            // SAFETY: the head has had its turn, here or in the slice before.
            match unsafe { hold.end_turn(then, || runner.is_closing()) } {
                Unlinked::Idle => return Slice::Over,
                Unlinked::More if runner.count_turn(head.weight()) => {}
                Unlinked::More | Unlinked::Stalled => break None,
            }
        };
        hooks::slice_ends(&lane, runner.listener());
        hold.count_refs();
        match elsewhere {
            Some(pin) => Slice::Elsewhere(self, pin),
            None => Slice::More(self),
        }
    }
}

/// One turn of `head`, which this thread may run.
#[inline(always)]
fn turn(hold: &Hold, head: Head, runner: &mut impl Runner) -> AfterTurn {
    runner.begin_turn(head.task().map(TaskRef::named));
    hooks::turn_begins(hold.lane(), &head, runner.listener());
    let then = run_head(hold, head, runner);
    // The lane may be gone, and is not looked at then.
    hooks::turn_ends(hold, &head, then, runner.listener());
    then
}

/// What every node begins with that a lane runs and that is no task: a callback, a claim, a reader.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct TableNode {
    pub(crate) node: Node,
    pub(crate) table: &'static Table,
}

/// The functions of a [`TableNode`], which they take. The caller holds its lane.
#[derive(Debug)]
pub(crate) struct Table {
    /// The turn, at the head. The last argument says whether everything is to be cancelled.
    pub(crate) run: unsafe fn(NonNull<Node>, &Hold, bool) -> AfterTurn,
    /// What remains when it has had its turn and is in no chain.
    pub(crate) free: unsafe fn(NonNull<Node>),
    /// If it reads beside others.
    pub(crate) reader: Option<Reader>,
}

/// What is done with the node of a reader.
#[derive(Debug)]
pub(crate) enum Reader {
    /// A claim, whose behavior leaves when it has run. The function takes the node of an admitted claim.
    Claim(unsafe fn(NonNull<Node>)),
    /// A queued read. `begin` takes the closure out of the reach of its future, or drops it there: if it was abandoned, or
    /// if the second argument says that the runtime shuts down. The caller holds the lane. It may be called again.
    /// Returns whether there is something to read. `read` takes the node of an admitted read.
    Queued {
        begin: unsafe fn(NonNull<Node>, bool) -> bool,
        read: unsafe fn(NonNull<Node>, bool) -> Option<Waker>,
    },
}

/// # Safety
///
/// `node` begins a [`TableNode`], and is alive.
#[inline]
pub(crate) unsafe fn table(node: NonNull<Node>) -> &'static Table {
    // SAFETY: the caller promises that it begins a `TableNode`, and is alive.
    unsafe { node.cast::<TableNode>().as_ref() }.table
}

/// The thread that runs a slice.
pub(crate) trait Runner {
    /// Whether it may run a node that is pinned to `pin` (0: pinned to no thread).
    fn may_run(&self, pin: u32) -> bool;
    /// Whether everything is to be cancelled.
    fn is_closing(&self) -> bool;
    /// A turn begins, of this task or of something else.
    fn begin_turn(&self, _task: Option<Named>) {}
    /// Counts a task whose end nobody has seen yet.
    fn count_completed(&self);
    /// One turn of that weight is over; returns whether the slice goes on.
    fn count_turn(&mut self, weight: i64) -> bool;
    /// The listener of the slice, the same for the whole slice. Without one the compiler leaves out all that is for it.
    #[inline(always)]
    fn listener(&mut self) -> Option<&mut dyn SliceListener> {
        None
    }
}

/// The share of a slice that a poll takes, or whatever else takes as long.
pub(crate) const POLL_WEIGHT: i64 = 64;

/// The share of a slice that the closure of a post or a call takes. A task that posts in each of its polls fills the time
/// of a slice, and 4,096 short closures, the weight of 64 polls, fill it too. If a closure had the weight of a poll, a
/// line of posts would have turns of a few microseconds, the task that posts would have turns of 200, and the line would
/// grow.
pub(crate) const CLOSURE_WEIGHT: i64 = 1;

/// How a slice ended.
#[must_use]
#[derive(Debug)]
pub(crate) enum Slice {
    /// The lane is idle, or something has it: a task that waits, a behavior, or readers. The lane may be freed.
    Over,
    /// There is more to run.
    More(ReadyLane),
    /// The next node is pinned to another thread.
    Elsewhere(ReadyLane, u32),
}

/// The turn of the node at the head.
#[inline(always)]
fn run_head(hold: &Hold, head: Head, runner: &impl Runner) -> AfterTurn {
    // Tasks, the most frequent kind, need no call through a table: a task has one of its own for its future.
    // SAFETY: the node is at the head of the lane, and has not had its turn. This thread may run it.
    if let Some(task) = unsafe { head.task_turn(hold) } {
        return run_task(hold.lane(), task, runner);
    }
    assert!(head.kind != Kind::Inline, "an inline call is over before its lane is queued");
    // SAFETY: the node is at the head, and neither a task nor the lane's own.
    let table = unsafe { table(head.node) };
    // SAFETY: the function is the node's own, and this thread holds the lane, whose head has not had its turn.
    unsafe { (table.run)(head.node, hold, runner.is_closing()) }
}

/// Does what remains after the turn of `head`, and gives its reference to the lane back.
///
/// # Safety
///
/// The node was the head of the lane of `hold`, has had its turn, and is in no chain.
#[inline(always)]
unsafe fn finish_head(head: Head, hold: &Hold) {
    let node = head.node;
    if let Some(task) = head.task() {
        // SAFETY: the caller promises that the task has had its turn and is in no chain.
        return finish_task(unsafe { EndedTurn::new(task) }, hold);
    }
    if matches!(head.kind, Kind::Callback | Kind::Inline) {
        hold.owe(-1);
    }
    if head.kind != Kind::Inline {
        // SAFETY: the caller promises that the node is alive; it is no task, and not the lane's own.
        let table = unsafe { table(node) };
        // SAFETY: the function is the node's own, which has had its turn, and is in no chain.
        unsafe { (table.free)(node) };
    }
}

impl Head {
    /// Whether the thread may run it. A closure that is only to be dropped is dropped on any thread: the thread that
    /// it is pinned to may have gone.
    #[inline]
    fn may_run(&self, runner: &impl Runner) -> bool {
        runner.may_run(self.pin) || self.kind == Kind::Callback && runner.is_closing()
    }

    /// The share of a slice that its turn takes.
    #[inline]
    fn weight(&self) -> i64 {
        match self.kind {
            Kind::Callback | Kind::Uncounted => CLOSURE_WEIGHT,
            _ => POLL_WEIGHT,
        }
    }
}

/// Polls the task at the head of the lane, or cancels it.
#[inline(always)]
fn run_task(lane: Held<'_>, mut turn: TaskTurn<'_, LanePtr>, runner: &impl Runner) -> AfterTurn {
    let (stored, asked) = current::poll(&mut turn, runner.is_closing());
    // SAFETY: the task's hop left a reference with the lane, and this is the only use of it.
    let hop = asked.hop.map(|lane| unsafe { LaneRef::from_counted(lane) });
    let has_held = lane.inner(|inner| {
        if stored.is_some() || hop.is_some() {
            inner.live.remove(&turn);
        } else {
            inner.live.insert(&turn);
        }
        inner.holds.is_on()
    });
    let wants = if stored.is_some() { Wants::Wait } else { turn.wants() };
    if has_held && wants != Wants::Lane {
        // The task at the head does not want to keep the lane any longer.
        lane.forget_section();
    }
    if let Some(stored) = stored {
        // Ordering: the end of the task publishes the count, so a thread that has seen that end finds the task counted.
        runner.count_completed();
        hooks::completing(turn.task(), || turn.complete(stored));
        return AfterTurn::Unlink;
    }
    if let Some(to) = hop {
        debug_assert!(to.ptr() != lane.ptr(), "a hop goes to another lane");
        turn.hop(to.into_counted());
        return AfterTurn::Unlink;
    }
    match wants {
        Wants::Lane => {
            if asked.yielded {
                turn.task().wake();
            }
            AfterTurn::Park
        }
        Wants::Wait if !asked.yielded => AfterTurn::Unlink,
        Wants::Wait | Wants::Again => AfterTurn::Rotate,
    }
}

/// Does what remains after the turn of a task, which it had under the lane of `hold`.
#[inline(always)]
fn finish_task(turn: EndedTurn<'_, LanePtr>, hold: &Hold) {
    let Err(turn) = turn.release() else { return hold.owe(-1) };
    let scheduled = if turn.task().lane() != hold.ptr() {
        hold.owe(-1);
        Some(turn)
    } else {
        turn.end()
    };
    // The task hops, or was woken meanwhile.
    if let Some(turn) = scheduled {
        // The record says that the task itself goes on, not that something outside has woken it.
        hooks::completing(turn.task(), || turn.schedule());
    }
}

impl Hold {
    /// Ends the turn of the head. After [`Unlinked::Idle`] this thread does not hold the lane any more.
    ///
    /// # Safety
    ///
    /// The turn of the head has answered `then`, in this slice, or in an earlier one that could not end it.
    #[inline(always)]
    unsafe fn end_turn(&self, then: AfterTurn, is_closing: impl FnOnce() -> bool) -> Unlinked {
        match then {
            // SAFETY: the caller promises that the head has had its turn.
            AfterTurn::Unlink => unsafe { self.unlink(is_closing()) },
            AfterTurn::Rotate => {
                let act = Act::push(&self.lane());
                match self.lane().chain.rotate_head() {
                    Rotated::Moved | Rotated::Alone => {
                        act.end();
                        Unlinked::More
                    }
                    Rotated::Stalled => {
                        self.lane().set_stalled(AfterTurn::Rotate);
                        Unlinked::Stalled
                    }
                }
            }
            AfterTurn::Park => {
                // SAFETY: the head is still there, and the value of its poll is gone.
                let turn = unsafe { self.lane().head().task_turn(self) };
                match self.keep(turn.expect("only a task keeps a lane")) {
                    Kept::Waiting => Unlinked::Idle,
                    Kept::Again => Unlinked::More,
                    // SAFETY: the caller promises that the head has had its turn.
                    Kept::Over => unsafe { self.unlink(is_closing()) },
                }
            }
            AfterTurn::LaneGone => Unlinked::Idle,
            AfterTurn::Retry => Unlinked::Stalled,
        }
    }

    /// Takes the head out of the chain and does what remains of its turn. After [`Unlinked::Idle`] this thread does not
    /// hold the lane any more.
    ///
    /// # Safety
    ///
    /// The head has had its turn.
    #[inline(always)]
    unsafe fn unlink(&self, closing: bool) -> Unlinked {
        let lane = self.lane();
        let head = lane.head();
        let behind = lane.chain.behind(head.node);
        if behind.is_none() {
            self.count_taken();
            lane.ensure_found(closing);
        }
        if head.urgent {
            hooks::lower(&lane);
        }
        let unlinked = lane.chain.unlink_head(head.node, behind);
        if unlinked == Unlinked::Stalled {
            // The head is still in the chain, so this thread still holds the lane.
            if head.urgent {
                hooks::restore(&lane);
            }
            lane.set_stalled(AfterTurn::Unlink);
            return unlinked;
        }
        if unlinked == Unlinked::Idle {
            // `finish` may drop a foreign waker, whose code must not see the color.
            self.end();
        }
        // SAFETY: the head, which has had its turn, is out of the chain.
        unsafe { finish_head(head, self) };
        if unlinked == Unlinked::Idle {
            self.count_refs();
        }
        unlinked
    }

    /// Counts the references that were taken, before an exchange that may end the hold.
    #[inline]
    pub(crate) fn count_taken(&self) {
        if current::owed() > 0 {
            self.lane().retain(self.take_owed().unsigned_abs());
        }
    }

    /// Counts the references that were taken and given back meanwhile. Something else keeps a lane that is still held:
    /// as a rule the nodes in its chain, which own references.
    pub(crate) fn count_refs(&self) {
        let owed = self.take_owed();
        if owed > 0 {
            self.lane().retain(owed.unsigned_abs());
        } else if owed < 0 {
            // SAFETY: their owners gave these references to the holder, which gives them back here, once.
            unsafe { self.ptr().release(owed.unsigned_abs()) };
        }
    }

    /// Ends a hold that is not a slice: takes the head out, and hands on the lane if nodes are behind it.
    ///
    /// # Safety
    ///
    /// The head has had its turn, and something that outlives this call keeps the lane alive.
    #[inline]
    pub(crate) unsafe fn hand_on(self) {
        let lane = self.lane();
        hooks::idle(&lane);
        // SAFETY: the caller promises that the head has had its turn.
        if unsafe { self.unlink(lane.is_closing()) } != Unlinked::Idle {
            self.count_refs();
            let pin = lane.head().pin;
            self.end();
            ReadyLane(self.ptr()).dispatch(pin);
        }
    }

    /// Ends a hold by the lane's own node; no node is behind it as a rule. Costs one exchange then.
    ///
    /// # Safety
    ///
    /// The lane's own node is at the head, no task has been polled since it came there, and something that outlives this
    /// call keeps the lane alive.
    #[inline]
    pub(crate) unsafe fn end_inline(self) {
        let lane = self.lane();
        if current::owed() != 0 || !lane.chain.try_release(NonNull::from(&lane.inline)) {
            // SAFETY: the own node is still at the head: the exchange was left out, or has failed.
            unsafe { self.end_crowded() };
        }
    }

    /// # Safety
    ///
    /// As for [`end_inline`](Self::end_inline).
    #[cold]
    unsafe fn end_crowded(self) {
        // Like every node that has its turn in a slice, the own node owns a reference: it may be that a slice ends this.
        self.owe(1);
        // SAFETY: the caller promises that the own node is at the head, and that something keeps the lane alive.
        unsafe { self.hand_on() };
    }
}

impl LanePtr {
    /// As [`Hold::end_inline`], for a lane under whose color nothing has run.
    ///
    /// # Safety
    ///
    /// As for `end_inline`, and this thread holds the lane.
    #[inline]
    pub(crate) unsafe fn end_unused(self) {
        // SAFETY: the caller promises that something that outlives this call keeps the lane alive.
        let lane = unsafe { self.get() };
        if !lane.chain.try_release(NonNull::from(&lane.inline)) {
            // SAFETY: the exchange has failed, so this thread still holds the lane, which the caller keeps alive.
            let hold = unsafe { Hold::begin(self) };
            // SAFETY: the own node is still at the head.
            unsafe { hold.end_crowded() };
        }
    }
}

impl Hold {
    /// Ends the turn of the head, a task that has an open section and is not ready. After [`Kept::Waiting`] this thread does
    /// not hold the lane any more.
    #[cold]
    fn keep(&self, turn: TaskTurn<'_, LanePtr>) -> Kept {
        let lane = self.lane();
        self.count_taken();
        if !turn.is_notified() {
            lane.announce(turn.task());
        }
        let kept = turn.end_keeping();
        match kept {
            Kept::Again => {}
            // This thread still holds the lane, and the task, which has no section left, is about to leave it.
            Kept::Over => lane.forget_section(),
            Kept::Waiting => {
                self.end();
                self.count_refs();
            }
        }
        kept
    }
}

impl Held<'_> {
    /// Has the scheduler remember `task`, which is at the head of this lane and has been polled.
    fn announce(self, task: TaskRef<LanePtr>) {
        if self.inner(|inner| inner.section.is_some()) {
            return;
        }
        match self.port.common().sections.enter(self.home().unwrap_or(0), task) {
            Ok(section) => self.inner(|inner| inner.section = Some(section)),
            Err(Closing) => task.abort(),
        }
    }

    /// The task at the head leaves it, and has had a section there.
    #[cold]
    fn forget_section(self) {
        let end = |inner: &mut Inner| {
            inner.holds.end();
            inner.section.take()
        };
        if let Some(section) = self.inner(end) {
            self.port.common().sections.remove(section);
        }
    }
}
