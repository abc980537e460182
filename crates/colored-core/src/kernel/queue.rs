//! The queues, and which threads may use which end of each.
//!
//! | queue | holds | put in by | taken out by |
//! |---|---|---|---|
//! | [`Chain`] | the nodes that one lane has to run | any thread | the lane's holder |
//! | [`Deque`] | lanes of one worker | its owner | its owner; thieves from the old end |
//! | [`Injector`] | lanes from threads that are not workers | any thread | any worker |

mod chain;
#[cfg_attr(colored_loom, path = "queue/deque_model.rs")]
mod deque;

pub(crate) use self::chain::{
    Admission, Chain, Kind, Node, Pushed, ReaderCount, Rotated, Tail, Unlinked,
};
pub(crate) use self::deque::{Deque, Injector, Stealer};
