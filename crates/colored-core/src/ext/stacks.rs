//! What thread-locals tell of the stack that a thread runs on.
//!
//! A simulation runs turns that give way inside on several stacks of one thread. The scheduler's thread-locals tell of the
//! frames below: the lane that is held, the worker that the thread is. So each stack has its own, which are exchanged
//! when the thread goes on with another stack. What a run of one thread counts stays with the thread: the next id of a task
//! and the next unique color, the simulation's functions, blocks of ids.

#[cfg(not(feature = "sim"))]
#[path = "stacks/absent.rs"]
mod kind;
#[cfg(feature = "sim")]
#[path = "stacks/present.rs"]
mod kind;

pub use self::kind::exchange_with_stacks;
#[cfg(feature = "sim")]
pub use self::kind::{StackLocals, begin_stacks};

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::mem;
use std::thread::LocalKey;

/// What is kept of a [`StackLocal`] for a stack that does not run; none if that stack has not used it.
pub type Kept = Option<Box<dyn Any>>;

/// A thread-local of another crate that tells of the stack: a static, whose type has a size.
pub trait StackLocal: Sync {
    /// Exchanges the value of this thread for the one that is kept. Must not panic.
    fn exchange(&self, kept: &mut Kept);
}

/// Exchanges a value for the one that is kept; the default one, if none is.
fn exchange<T: Default + 'static>(kept: &mut Kept, replace: impl FnOnce(T) -> T) {
    match kept.as_mut().and_then(|kept| kept.downcast_mut()) {
        Some(kept) => *kept = replace(mem::take(kept)),
        None => *kept = Some(Box::new(replace(T::default()))),
    }
}

/// A thread-local [`Cell`] or [`RefCell`] that tells of the stack. It is not borrowed where a thread goes on with another stack:
/// while no code of others runs, no thread does.
pub struct OfStack<C: 'static>(pub &'static LocalKey<C>);

impl<T: Default> StackLocal for OfStack<Cell<T>> {
    fn exchange(&self, kept: &mut Kept) {
        exchange(kept, |value| self.0.replace(value));
    }
}

impl<T: Default> StackLocal for OfStack<RefCell<T>> {
    fn exchange(&self, kept: &mut Kept) {
        exchange(kept, |value| self.0.replace(value));
    }
}

impl<C> fmt::Debug for OfStack<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OfStack").finish_non_exhaustive()
    }
}
