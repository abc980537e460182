//! A simulation runs several stacks on a thread.

use super::{Kept, StackLocal};
use crate::ext::{points, span};
use crate::kernel::budget::Budget;
use crate::kernel::lane::current::Current;
use crate::kernel::memory;
use crate::kernel::sched::local;
use crate::kernel::sched::{AllEntered, exchange_block_on};
use crate::kernel::task::Id;
use crate::kernel::wait;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::Location;
use std::ptr;

std::thread_local! {
    /// Whether this thread runs several stacks.
    static HAS_STACKS: Cell<bool> = const { Cell::new(false) };
    static OTHERS: RefCell<Vec<&'static dyn StackLocal>> = const { RefCell::new(Vec::new()) };
}

/// From now on this thread may run several stacks.
pub fn begin_stacks() {
    HAS_STACKS.set(true);
}

/// From now on, each stack of this thread has its own value of `of`. To be called before a stack uses it. Does nothing on a
/// thread that does not run several stacks.
#[inline]
pub fn exchange_with_stacks(of: &'static dyn StackLocal) {
    if HAS_STACKS.try_with(Cell::get).unwrap_or(false) {
        add(of);
    }
}

#[cold]
fn add(of: &'static dyn StackLocal) {
    // They are told apart by their addresses, which those without a size may share.
    assert!(size_of_val(of) > 0, "a `StackLocal` has a size");
    let _ = OTHERS.try_with(|others| {
        let mut others = others.borrow_mut();
        if !others.iter().any(|other| ptr::addr_eq(*other, of)) {
            others.push(of);
        }
    });
}

/// What the thread-locals tell of a stack that does not run; of one that has not begun, nothing.
pub struct StackLocals {
    current: Current,
    local: Cell<*const local::Local>,
    cache: Cell<*const memory::Cache>,
    block_on: Cell<*const ()>,
    budget: Budget,
    entered: AllEntered,
    section: Option<wait::Inside>,
    dropped: Cell<Option<Id>>,
    span: Cell<Option<span::Inside>>,
    site: Cell<Option<&'static Location<'static>>>,
    others: Vec<Kept>,
}

impl StackLocals {
    /// The values of a stack that has not begun.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it is no value of its own")]
    pub const fn new() -> Self {
        Self {
            current: Current::new(),
            local: Cell::new(ptr::null()),
            cache: Cell::new(ptr::null()),
            block_on: Cell::new(ptr::null()),
            budget: Budget::new(),
            entered: AllEntered::new(),
            section: None,
            dropped: Cell::new(None),
            span: Cell::new(None),
            site: Cell::new(None),
            others: Vec::new(),
        }
    }

    /// Exchanges the thread's values for these. The exchange takes some tens of nanoseconds.
    ///
    /// # Safety
    ///
    /// The thread is about to go on with another stack, or has just come from one. These values belong to the stack with which
    /// it goes on: they are new, if that stack has not begun, or the thread left them here when it went on from that stack.
    /// The caller gives back in the same way what the exchange leaves here, or never uses it.
    pub unsafe fn exchange(&mut self) {
        // SAFETY: as the caller promises.
        unsafe { self.current.exchange() };
        // SAFETY: as above.
        unsafe { local::exchange(&self.local) };
        // SAFETY: as above.
        unsafe { memory::exchange(&self.cache) };
        // SAFETY: as above.
        unsafe { exchange_block_on(&self.block_on) };
        self.budget.exchange();
        self.entered.exchange();
        self.section = wait::replace_inside(self.section.take());
        Id::exchange_dropped(&self.dropped);
        span::exchange_inside(&self.span);
        points::exchange_site(&self.site);
        OTHERS.with_borrow(|others| {
            self.others.resize_with(others.len(), || None);
            others.iter().zip(&mut self.others).for_each(|(of, kept)| of.exchange(kept));
        });
    }
}

impl fmt::Debug for StackLocals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StackLocals").finish_non_exhaustive()
    }
}
