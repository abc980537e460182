//! Record and replay: the order of the turns of each color.
//!
//! # The invariant
//!
//! The state of a color changes in its turns only, and its turns run in the order in which they were pushed. A turn is a
//! function of that state and of what it reads. So a run is a function of two things, for each color: **which source pushed
//! the work of each of its turns, in their order**, and **what its turns read from outside**. Workers, steals, slices and
//! priorities do not appear in it. The `k`-th thing that a source pushes on a color follows from the source's own history,
//! so a source and the order are enough to name it.
//!
//! A record has these two for each color: one stream of events, written by the holder of the lane. A replay lets the turns
//! of each color begin in the recorded order. What comes before its turn waits in the color's *early* things, in front of
//! the chain; nothing else in the lane differs. The recorded orders come from one real run, so they have no cycle, and any
//! number of workers can follow them.
//!
//! # What decides a run, and what becomes of it
//!
//! | | |
//! |---|---|
//! | a spawn, a post, a call, a hop | a push: the source is the color whose turn it is, the thread that made the runtime, or a blocking call |
//! | a wake | the record has *which task* had a turn, not who woke it: so a wake that found the task queued needs no record. In a replay a wake is a hint. A task that no turn wakes, because a timer did, or two wakes have become one, is woken by the replay |
//! | a poll that finds an outcome before its wake | an answer for each poll of a join handle, a call, a timer or a channel: see [`Awaited`]. If the record says yes, the replay waits for the outcome inside the poll; if it says no, the poll is pending |
//! | an abort | the turn that drops the future has a mark |
//! | a call that finds its color idle | it is queued, in a run that is recorded as well |
//! | a color or an id that is made | its number follows from the color that makes it and how many that has made |
//! | the end of a cell | a source of its own, for any of its clones may be the last |
//! | the clock, random numbers | their values |
//! | all else: sections, behaviors, readers, values of colors, sockets, locks | [`refuse`]: the replay ends there, and names it |
//!
//! # The end of a replay
//!
//! A turn that does something else than the record says, and an operation that no record covers, [stop](book::Book::stop) the
//! replay: all tasks are cancelled, but for the futures inside `block_on`, which the shell has panic with the reason. If
//! nothing runs and nothing waits for a thread outside, what is missing is named instead ([`report_missing`](book::Book::report_missing)).
//! A shutdown lets go what waits: the record ends where it begins.

mod awaited;
mod book;
mod early;
mod here;
mod missing;
mod order;
mod turn;

pub(crate) use self::awaited::{Awaited, How, poll};
pub use self::book::{Shell, Sink};
pub(crate) use self::here::{CallOrder, EndSerial, end_node, is_over, is_wanted, refuse_at};
pub use self::here::{
    Received, answer, is_ordered, is_replay_here, note, note_received, number, refuse, source,
    told, told_received, wait_until,
};
pub use self::order::Order;
pub(crate) use self::turn::{
    TurnEnd, cancels, forget, hold_back, is_on, pushes_again, turn_begins, turn_end,
};
