//! The scheduler laboratory: other queues, other balancing, other placement.
//!
//! What [`Runtime::builder`](super::Runtime::builder) builds by default is what measured best: a
//! queue of lanes for each worker, stealing of whole lanes, and a lane goes to the worker that woke
//! it. Here are the alternatives of the papers that this runtime comes from, for those who want to
//! compare, or know their load better.
//!
//! | option | default | others |
//! |---|---|---|
//! | [`Builder::queue`](super::Builder::queue) | [`Queue::PerWorker`] | [`Shared`](Queue::Shared), [`SharedTasks`](Queue::SharedTasks), [`PerWorkerTasks`](Queue::PerWorkerTasks) |
//! | [`Builder::balance`](super::Builder::balance) | [`Balance::Steal`] | [`None`](Balance::None), [`Push`](Balance::Push), [`Hybrid`](Balance::Hybrid) |
//! | [`Builder::placement`](super::Builder::placement) | [`Placement::Waker`] | [`Home`](Placement::Home), [`Pinned`](Placement::Pinned) |
//! | [`Builder::slice`](super::Builder::slice) | 64 polls, 200 µs | 1 to 1,000,000 polls, 1 µs to 1 s |
//! | [`Builder::reuse`](super::Builder::reuse) | yes | no |
//!
//! Every guarantee holds under all of them but G6 (work conservation), which
//! [`Balance::None`], [`Balance::Push`] and [`Placement::Pinned`] give up by what they are; and the
//! bound of G7 counts polls by the slice that was chosen.
//!
//! Not everything goes together; [`Builder::build`](super::Builder::build) says what does not:
//!
//! | queue | balance | placement |
//! |---|---|---|
//! | `PerWorker` | any; with `Pinned`, `Steal` means `None`, and pushing is refused | any |
//! | `Shared`, `SharedTasks` | `Steal` or `None`, which mean the same: there is nothing to balance | `Waker` |
//! | `PerWorkerTasks` | `Steal` or `None` | any; `Waker` means `Home` |
//!
//! [Priorities](super::Handle::set_priority) go with all but two of them. With a flat queue there are
//! none: all colors are normal, whatever is said. And from the first priority on lanes wait by class, and
//! none is pushed: [`Balance::Push`] is as [`None`](Balance::None) then, [`Balance::Hybrid`] as
//! [`Steal`](Balance::Steal).
//!
//! A flat queue ([`Queue::SharedTasks`], [`Queue::PerWorkerTasks`]) makes every other runtime of the
//! process a little slower while it lives: each thing scheduled asks whether somebody counts.

pub use colored_core::lab::{Balance, Placement, Queue};
