//! A lane: the live queue of one color, and the right to run it.
//!
//! # Kinds of reference
//!
//! | type | is | counted |
//! |---|---|---|
//! | [`LaneRef`] | an owner: a cell, a cache, a look-up that is about to push | yes |
//! | [`LanePtr`] | a task's pointer to its lane; the task counts as an owner until it completes | no |
//! | [`ReadyLane`] | **the right to run the lane**, a value that cannot be copied | no |
//!
//! Everything in a lane's chain owns one reference, or relies on a cell's reference, which is given back only after
//! something that is scheduled later: so a lane that is held or queued is alive. Only the lane's holder gives a task's
//! reference back, and only after it has given the right away: while it runs a slice, the holder counts in a
//! thread-local ([`current`]), and adds the sum once ([`Hold::count_refs`](current::Hold::count_refs)).
//!
//! # Exclusion (G1)
//!
//! A `ReadyLane` is made in four places: by the push that found the chain idle ([`LanePtr::push`]); by the wake of a task
//! that has kept the lane ([`Schedule::resume`](crate::kernel::task::Schedule::resume)); by the last reader that leaves a
//! lane in which something waits ([`readers::leave`]); and by the end of an inline call, or of a behavior, behind whose node
//! something waits ([`Hold::hand_on`](current::Hold::hand_on)). It is consumed by [`ReadyLane::run`], which gives it back, or
//! ends with the chain idle, or leaves it to the task at the head: that task keeps the lane while it waits
//! (`lane/section.rs`), and its state says which thread gets the right. So there is at most one for a lane at any time, and
//! only its owner polls. A lane in a deque is a `ReadyLane` in a deque: a thief takes the lane idle and whole.
//!
//! # States
//!
//! One table over all words of a lane. The state follows from the chain, the kind of its head, and the word `readers`.
//!
//! | state | head of the chain | `readers` | the right to run | transitions |
//! |---|---|---|---|---|
//! | **idle** | none | 0 | belongs to no thread | a push: queued. The own node is pushed: inline. A reader enters: shared |
//! | **queued** | any | 0 | a [`ReadyLane`] in a queue | a worker takes it: running |
//! | **running** | any but the own node | 0 | the thread's that runs the slice | the slice ends: queued, or idle. A task waits in a section: parked. A claim has its turn: taken. A reader has its turn: shared, or awaited |
//! | **stalled** | has had its turn; a producer behind it is half done (`stalled`) | 0 | as queued | as queued; the next slice begins with what remains |
//! | **parked** | a task with an open section, which waits | 0 | in the state word of that task | the wake of the task: queued |
//! | **taken** | a claim that has had its turn | 0 | the behavior's | its closure is over: running |
//! | **inline** | the own node | 0 | the thread's that has put the node there | the call is over: idle, or queued |
//! | **shared** | none; the tail counts the readers | 0 | belongs to no thread | the last reader leaves: idle. A push: awaited |
//! | **awaited** | any | n > 0 | belongs to no thread | the last reader leaves: queued |
//!
//! The other words do not depend on the state, with two exceptions: `refs` is not 0 unless the lane is idle, and `inner` and
//! `stalled` are touched only with the right to run. `refs` also tells whether the table has the lane (`count.rs`); the
//! priority word counts urgent nodes and says whether the queue is one by class (`ext/priority.rs`); `home` and `wished`
//! are hints. `slot` is the listeners' ([`LaneSlot`](crate::hooks::slots::LaneSlot)).
//!
//! # A turn
//!
//! [`ReadyLane::run`] gives one turn after the other to the node at the head. The turn of a node is code of the node's own
//! kind (`lane/turn.rs`): it answers what becomes of the node ([`AfterTurn`](base::AfterTurn)), and does what remains when
//! the node is out of the chain.
//!
//! # Order (G2)
//!
//! The chain is first-in first-out in the order of the swaps on its tail, and it belongs to the
//! lane, not to a worker: stealing the lane moves it unchanged.

pub(crate) mod base;
pub(crate) mod behavior;
pub(crate) mod callback;
mod count;
pub(crate) mod current;
pub(crate) mod readers;
pub(crate) mod refs;
pub(crate) mod section;
pub(crate) mod turn;
mod wake;

pub(crate) use self::base::{Common, Dispatch, Held, Lane, LanePtr, Owner, ReadyLane, Tenure};
pub(crate) use self::behavior::BehaviorRef;
pub(crate) use self::count::GivenBack;
pub(crate) use self::current::{current_color, noted_time};
pub(crate) use self::refs::LaneRef;
pub(crate) use self::turn::{POLL_WEIGHT, Runner, Slice};

pub use self::refs::Address;
