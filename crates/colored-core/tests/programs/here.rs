//! The state of this thread: the program to which it belongs, and the color under which it should be.

use crate::world::{Hue, Thing, World};
use colored_core::ColorLocal;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::LocalKey;

thread_local! {
    static PROGRAM: RefCell<Option<Arc<World>>> = const { RefCell::new(None) };
    static HUE: RefCell<Option<Hue>> = const { RefCell::new(None) };
    static STASH: RefCell<Vec<Stashed>> = const { RefCell::new(Vec::new()) };
    static ROAMS: Cell<bool> = const { Cell::new(false) };
    static IS_KEPT: Cell<bool> = const { Cell::new(false) };
    static IS_MAIN: Cell<bool> = const { Cell::new(false) };
}

/// A panic that the program has planned.
pub(crate) struct Planned;

/// This thread belongs to the program until the guard is dropped.
pub(crate) fn belong(world: &Arc<World>) -> impl Drop + use<> {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            PROGRAM.take();
        }
    }
    PROGRAM.replace(Some(Arc::clone(world)));
    Leave
}

/// The program of this thread. There is none while the thread drops its thread-locals.
pub(crate) fn program() -> Option<Arc<World>> {
    PROGRAM.try_with(|program| program.borrow().clone()).ok().flatten()
}

/// The color that this thread should be under.
pub(crate) fn hue() -> Option<Hue> {
    HUE.try_with(|hue| hue.borrow().clone()).ok().flatten()
}

/// This thread is under the color while `f` runs.
pub(crate) fn under<R>(hue: Option<Hue>, f: impl FnOnce() -> R) -> R {
    struct Restore {
        outer: Option<Hue>,
        inside: Option<(Hue, u64)>,
    }
    impl Drop for Restore {
        fn drop(&mut self) {
            if let Some((hue, before)) = self.inside.take() {
                hue.witness.leave(before);
            }
            let outer = self.outer.take();
            let _inner = HUE.try_with(|hue| hue.replace(outer));
        }
    }
    let inside = hue.as_ref().map(|hue| (hue.clone(), hue.witness.enter()));
    let outer = HUE.try_with(|place| place.replace(hue)).ok().flatten();
    let _restore = Restore { outer, inside };
    f()
}

/// Runs the acts of a destructor. A panic during another panic would end the process.
pub(crate) fn in_destructor(f: impl FnOnce()) {
    let is_panicking = std::thread::panicking();
    if let Err(panic) = catch_unwind(AssertUnwindSafe(f))
        && !is_panicking
    {
        resume_unwind(panic);
    }
}

/// Runs `f` while the thread steps a worker that is not its own. A future that settles on the thread meanwhile
/// could not leave.
pub(crate) fn roam<R>(f: impl FnOnce() -> R) -> R {
    during(&ROAMS, || under(None, f))
}

pub(crate) fn roams() -> bool {
    ROAMS.get()
}

/// Runs `f` while others wait for this thread. The thread must not wait for them meanwhile.
pub(crate) fn keep<R>(f: impl FnOnce() -> R) -> R {
    during(&IS_KEPT, f)
}

pub(crate) fn is_kept() -> bool {
    IS_KEPT.get()
}

/// Says that this is the main thread of a program, which ends after the program.
pub(crate) fn be_main() {
    IS_MAIN.set(true);
}

pub(crate) fn is_main() -> bool {
    IS_MAIN.get()
}

fn during<R>(flag: &'static LocalKey<Cell<bool>>, f: impl FnOnce() -> R) -> R {
    struct Restore(&'static LocalKey<Cell<bool>>, bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            self.0.set(self.1);
        }
    }
    let _restore = Restore(flag, flag.replace(true));
    f()
}

/// A thing that is dropped when the thread ends. A panic would end the process there.
struct Stashed(Option<Thing>);

impl Drop for Stashed {
    fn drop(&mut self) {
        let _planned = catch_unwind(AssertUnwindSafe(|| drop(self.0.take())));
    }
}

/// Leaves a thing to be dropped when the thread ends.
pub(crate) fn stash(thing: Thing) {
    let mut thing = Some(Stashed(Some(thing)));
    let _at_end = STASH.try_with(|stash| stash.borrow_mut().extend(thing.take()));
}

/// Makes the stash older than all thread-locals that the thread uses later for the first time, so that the stash is
/// dropped after them.
pub(crate) fn begin_stash() {
    STASH.with_borrow(|_| ());
}

/// Drops the things that are stashed here, and the things that their destructors stash.
pub(crate) fn empty_stash() {
    while let Some(thing) = STASH.with_borrow_mut(Vec::pop) {
        drop(thing);
    }
}

pub(crate) fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The values that colors have of their own.
pub(crate) static LOCALS: [ColorLocal<Own>; 2] =
    [ColorLocal::__new("FIRST", Own::new), ColorLocal::__new("SECOND", Own::new)];

/// The value of a color. It has the memory that shows a second drop.
pub(crate) struct Own {
    token: Option<crate::world::Token>,
    uses: Cell<u64>,
}

impl Own {
    fn new() -> Self {
        let token = program().map(|world| crate::world::Token::new(&world));
        Self { token, uses: Cell::new(0) }
    }

    pub(crate) fn touch(&self) {
        if let Some(token) = &self.token {
            token.look();
        }
        self.uses.set(self.uses.get() + 1);
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.touch();
        // The local that was made first may still be there, or gone.
        let _maybe = LOCALS[0].try_with(|own| own.uses.get());
    }
}
