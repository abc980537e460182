//! [`block_in_place`]: a poll that announces that it blocks; and [`in_own_call`], a poll inside a call of the runtime's own.

use super::local;
use super::running::{InPlace, Running};
use crate::kernel::lane::current::Closure;

/// Calls `f`, which may block, in this poll; meanwhile spare workers take the other lanes of this worker, as soon as the
/// thread that looks for stuck workers ([`Scheduler::running`](super::Scheduler::running)) sees the announcement.
pub fn block_in_place<R>(f: impl FnOnce() -> R) -> R {
    let after = |before| if before == InPlace::Inside { before } else { InPlace::Past };
    marked(InPlace::Inside, after, f)
}

/// Calls `f`, a call of the system that the layer above makes in this poll by its own choice, as a rule a short one: if it
/// lasts, the program is not told to await in its place. Costs two stores and a look at the thread's worker.
#[inline]
pub fn in_own_call<R>(f: impl FnOnce() -> R) -> R {
    marked(InPlace::Own, |before| before, f)
}

/// Calls `f` with this mark, and sets another one afterwards, which depends on the mark before.
#[inline]
fn marked<R>(mark: InPlace, after: fn(InPlace) -> InPlace, f: impl FnOnce() -> R) -> R {
    struct Restore<'a>(&'a Running, InPlace);
    impl Drop for Restore<'_> {
        fn drop(&mut self) {
            self.0.mark(self.1);
        }
    }
    local::with(|local| {
        let _restore = local.map(|local| {
            let running = &local.remote().running;
            Restore(running, after(running.mark(mark)))
        });
        let _closure = Closure::begin();
        f()
    })
}
