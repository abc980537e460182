//! Who waits for whom: so that a wait that cannot end is an error at once.
//!
//! # What is recorded
//!
//! | from | to | from when | until |
//! |---|---|---|---|
//! | a task | a task that it awaits | the handle is polled and not ready | it is ready or dropped |
//! | a task | the lanes of a call, a read, a `when` or a hop | it is scheduled there | its turn comes, or it is dropped |
//! | a task | the lane of a pinned cell's owner (`cell/errand.rs`) | it is polled and the closure has not begun | it begins, or is dropped |
//! | a task | the lane of a bound, or one of those who have been called there, if that is all by which room comes (`bound/home.rs`) | it stands in the line for room | it is called, or leaves |
//! | a task | its own lane, if that is held by another task's section | | (read from the task) |
//! | a task that is awaited | its own lane, behind the `when`s of before | it is seen in no line, by who awaits it | it is not awaited |
//! | a lane | the waits inside a section that holds it | | the end of the section |
//! | a place in a lane's line | the `when`s before it there | such a `when` is scheduled | it runs |
//! | a lane | the `when` that has it, and lacks others | it gets it, or gets known | it runs |
//! | a `when` | those of its lanes that it does not have | it is scheduled | it runs, whether or not it is awaited |
//!
//! A wait belongs to the task that polls it, whatever combinator it is in, and to the innermost
//! section whose future is being polled. All waits of a task count together, and all of a section.
//!
//! A cycle with a wait inside a section is a deadlock. A new wait may close one: so each is looked at
//! when it is recorded, under the one lock; and whichever comes last gets the error, and is not
//! recorded. A section that begins has no waits yet, and a task that gets under another color has been
//! there first. What else may close one is a `when` that gets a lane, somebody who does not read and
//! stands behind such `when`s that do, and a place under a bound that changes hands: see below.
//!
//! What could end a wait from outside does not count, for somebody would have to do it: an abort of a
//! task that is awaited, the [`close`](crate::Bound::close) of a bound. But what is under way does: who
//! waits for room waits for the color only if nobody inside can go elsewhere. To abort those inside
//! gives no room, for they are dropped under the color too.
//!
//! # Places in a line
//!
//! A cycle that will be closed by a `when` as soon as that has a lane is told earlier, at the wait that
//! closes it, where the order is known: what stands behind a `when` goes after it, what is before it does
//! not. Hence the records are in the order of the lines. Who pushes does it under the lock of the
//! records, and each record has a key that grows; so of two that were pushed on one lane this way, the
//! one with the smaller key is before the other. The lock is dropped before the lane is dispatched and
//! before a `when` runs, for that may be foreign code; under it are an allocation and an exchange a
//! lane, and the locks of `lane/order.rs`, under which nobody takes this one. Where the order is not
//! known, of what has no key, nothing is said before the `when` has the lane. A `when` that has one lane
//! for itself stands there as a call does: who reads behind it is not told of the `when`s before both.
//!
//! A task that waits is in no line. What was pushed by then is before it wherever it is pushed next, so
//! who awaits it notes the key of that moment. A wake that comes at once changes nothing: the exchange by
//! which it was seen to wait is before the wake's in the order of the task's word, and so is all that
//! was pushed. If it gets on, those before it have left the records.
//!
//! A cycle through a `when` is closed by one who begins to wait behind it, or joins one who does; or by
//! the `when` itself, if its own task is in the cycle, or if a section over one of its colors waits for a
//! task of another one of them that is in no line, and would come behind it; else by a lane that it gets.
//!
//! Missing is (and no wrong error comes of it):
//!
//! * for room: those who were let in, or called, before the first section; a [`Place`](crate::Place)
//!   in the program's hands;
//! * a `when` with lanes of another scheduler than its task's: what is in the records of one scheduler
//!   begins under the lock of those;
//! * a wait that is told to look again, in a combinator that polls only what was woken: the task is
//!   woken, and not the wait;
//! * what is no wait: permits, locks, channels; a post; and a wait of a thread that polls no task.
//!
//! # When
//!
//! From the first section of a scheduler on; before, what is asked is one flag. The waits of then are
//! not known, so that moment wakes every waiting task once, and they say again what they wait for:
//! lanes are found in the table and the registry, and one that enters these later sees the flag,
//! since it takes the lock under which it was looked for. A task that is woken so stands in its lane's
//! line, as by any wake, and keeps readers behind it apart from those before: if that closes a cycle it
//! is one. What wakes them stands there too, and is passed by readers. A lane that stands still does not
//! come to it, but then its tasks need no more than their own color to be known to wait.
//!
//! A `when` of then is found in the lines of the lanes that stand still, whoever polls it
//! (`lane/older.rs`).
//!
//! # Tasks that move
//!
//! A task's lane is read by others without an order of its own. An old value matters only if it
//! names a lane that a section holds. But a task leaves a lane before another one's section begins
//! there, and the lane's hand-over makes its new lane visible to that section; whose waits, without
//! which the lane is not looked at, are recorded under the lock. What a task does to get into a lane
//! that is held, a hop, is itself recorded before.

mod graph;
mod lines;
mod older;
mod room;
mod search;
mod settle;
mod several;
mod stuck;
mod waiter;

pub(crate) use self::room::{Caller, Room, RoomWait, Ways, room};
pub(crate) use self::several::{is_entered, queue_all, queued_all};

use self::graph::{Graph, How, To, Told};
use self::lines::Spot;
use self::waiter::{Waiter, again};
use super::{Handle, Scheduler, with_handle_of_task};
use crate::lane::{LanePtr, LaneRef, callback};
use crate::sync::{Arc, AtomicBool, Mutex, MutexGuard, Ordering};
use crate::task::{Deadlock, Id, TaskRef};
use std::panic::Location;

/// The waits of a scheduler's tasks.
pub(super) struct Waits {
    /// There has been a section.
    watched: AtomicBool,
    graph: Mutex<Graph>,
}

impl Waits {
    pub(super) fn new() -> Self {
        Self { watched: AtomicBool::new(false), graph: Mutex::new(Graph::default()) }
    }

    #[inline]
    pub(super) fn are_watched(&self) -> bool {
        // Ordering: whose waits matter sees it by the lock or the chain through which it is found or
        // woken (module documentation).
        self.watched.load(Ordering::Relaxed)
    }
}

impl Scheduler {
    /// Records waits from the start, without waking anybody at the first section: of a scheduler on
    /// which nothing has been spawned yet.
    pub fn watch_from_the_start(&self) {
        // Ordering: as in `are_watched`.
        self.waits.watched.store(true, Ordering::Relaxed);
    }

    /// Whether waits are recorded.
    #[inline]
    pub(crate) fn watches_waits(&self) -> bool {
        self.waits.are_watched()
    }

    /// Records waits from now on.
    pub(crate) fn watch(&self) {
        // Ordering: as in `are_watched`.
        if self.waits.are_watched() || self.waits.watched.swap(true, Ordering::Relaxed) {
            return;
        }
        for lane in self.registry.all().into_iter().chain(self.table.all()) {
            callback::rouse(&lane);
        }
    }
}

/// A wait that is recorded, until this is dropped. One word, for those who have none.
pub(crate) struct Wait(Box<Record>);

struct Record {
    handle: Handle,
    task: Id,
    section: Option<(u64, Arc<Told>)>,
    key: u64,
    place: u64,
}

impl Wait {
    /// Whether it is in a cycle by now, that has been closed without a wait.
    fn is_in_a_cycle(&self) -> bool {
        let Record { handle, task, key, .. } = &*self.0;
        handle.scheduler().waits.graph.lock().is_in_a_cycle(*task, *key)
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        self.handle.scheduler().waits.graph.lock().remove(self.task, self.key);
    }
}

/// The lock of the records: what is pushed under it has its place in the order of the records. To be
/// dropped before any foreign code runs.
pub(crate) struct Ordered<'a>(Option<(MutexGuard<'a, Graph>, u64)>);

impl Ordered<'_> {
    /// For what is pushed while there are no records.
    pub(crate) const fn not() -> Self {
        Self(None)
    }
}

/// A section in which something has been waited for, until this is dropped.
pub(crate) struct Watched {
    handle: Handle,
    key: u64,
}

impl Watched {
    /// The section by this key, of the scheduler whose task this thread polls.
    pub(crate) fn new(key: u64) -> Option<Self> {
        with_handle_of_task(|handle| Some(Self { handle: handle?.clone(), key }))
    }

    pub(crate) fn key(&self) -> u64 {
        self.key
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.handle.scheduler().waits.graph.lock().end_section(self.key);
    }
}

/// Whether the waits of the task that this thread polls are to be recorded. Asked before every wait.
#[inline]
pub(crate) fn are_watched() -> bool {
    with_handle_of_task(|handle| {
        handle.is_some_and(|handle| handle.scheduler().waits.are_watched())
    })
}

/// A turn that is wanted under one color.
#[derive(Clone, Copy)]
pub(crate) struct Turn<'a> {
    pub(crate) lane: &'a LaneRef,
    /// Together with other readers.
    pub(crate) shared: bool,
    /// What the one who wants it does with the color, for the text of a [`Deadlock`].
    pub(crate) how: &'static str,
    pub(crate) site: &'static Location<'static>,
}

impl Turn<'_> {
    fn to(self, place: u64) -> To {
        let spot = Spot { lane: self.lane.ptr(), shared: self.shared, place };
        To::Lane { spot, color: self.lane.color(), how: self.how() }
    }

    fn how(self) -> How {
        How { how: self.how, site: self.site }
    }
}

/// Records that the current task awaits another one. `before` is the record of the same wait when it
/// was polled the last time.
///
/// # Safety
///
/// `joined` is alive until the record is dropped.
#[cold]
pub(crate) unsafe fn task(
    before: Option<Wait>,
    joined: TaskRef<LanePtr>,
) -> Result<Option<Wait>, Deadlock> {
    let to = |_: &mut Graph, now| To::Task {
        task: joined,
        since: if joined.is_out() { now } else { 0 },
    };
    again(before, false, to)
}

/// Records that the current task waits for a turn, and has `push` stand in the line for it. The
/// record is to be dropped when the turn comes, not only when the task learns of it.
#[cold]
pub(crate) fn queue<R>(
    turn: Turn<'_>,
    push: impl FnOnce(Option<Wait>, Ordered<'_>) -> R,
) -> Result<R, Deadlock> {
    let Some(waiter) = Waiter::current() else { return Ok(push(None, Ordered(None))) };
    let mut graph = waiter.lock();
    let wait = waiter.add(&mut graph, None, |_, place| turn.to(place))?;
    Ok(push(Some(wait), Ordered(Some((graph, 0)))))
}

/// As [`queue`], for a task that stands in the line when this poll is over. `before` is the record of
/// the same wait when it was polled the last time.
#[cold]
pub(crate) fn hop(before: Option<Wait>, turn: Turn<'_>) -> Result<Option<Wait>, Deadlock> {
    match before {
        Some(_) => queued(before, turn),
        None => queue(turn, |wait, _later| wait),
    }
}

/// As [`queue`], for one who stands in the line already. `before` is the record of the same wait when
/// it was polled the last time; if there is none, what is before it in the line is not known.
#[cold]
pub(crate) fn queued(before: Option<Wait>, turn: Turn<'_>) -> Result<Option<Wait>, Deadlock> {
    again(before, true, |_, place| turn.to(place))
}
