//! Entering a runtime's services, and leaving them.

use super::current::{self, Context};
use super::wheel_timer;
use std::marker::PhantomData;
use std::sync::Arc;

/// Makes `context` this thread's until the guard is dropped. Guards may be dropped in any order.
pub(crate) fn enter(context: Context) -> Entered {
    enter_shared(Arc::new(context))
}

/// As [`enter`], for a place that is entered again and again.
pub(crate) fn enter_shared(context: Arc<Context>) -> Entered {
    Entered { key: current::enter(context), _this_thread: PhantomData }
}

/// As [`enter`], for a place that one thread enters again and again: it is not counted, but back in `place` afterwards. Without
/// one, nothing happens.
#[cfg(feature = "sim")]
pub(crate) fn enter_lent(place: &mut Option<Arc<Context>>) -> Lent<'_> {
    let key = place.take().map(current::enter);
    Lent { place, key, _this_thread: PhantomData }
}

/// Gives the thread back, and the place.
#[cfg(feature = "sim")]
#[derive(Debug)]
pub(crate) struct Lent<'a> {
    place: &'a mut Option<Arc<Context>>,
    key: Option<u64>,
    _this_thread: PhantomData<*const ()>,
}

#[cfg(feature = "sim")]
impl Drop for Lent<'_> {
    fn drop(&mut self) {
        wheel_timer::drop_last();
        *self.place = self.key.and_then(current::leave);
    }
}

/// Gives the thread back to the runtime it was in before, if any.
#[derive(Debug)]
pub(crate) struct Entered {
    key: u64,
    _this_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        wheel_timer::drop_last();
        drop(current::leave(self.key));
    }
}
