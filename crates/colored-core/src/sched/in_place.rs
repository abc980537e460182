//! [`block_in_place`]: a poll that announces that it blocks.

use super::local;
use super::running::{InPlace, Running};

/// Calls `f`, which may block, in this poll; meanwhile spare workers take the other lanes of this worker, as soon as the
/// thread that looks for stuck workers ([`Scheduler::running`](super::Scheduler::running)) sees the announcement.
pub fn block_in_place<R>(f: impl FnOnce() -> R) -> R {
    struct Restore<'a>(&'a Running, InPlace);
    impl Drop for Restore<'_> {
        fn drop(&mut self) {
            self.0.mark(self.1);
        }
    }
    local::with(|local| {
        let _restore = local.map(|local| {
            let running = &local.remote().running;
            let before = running.mark(InPlace::Inside);
            Restore(running, if before == InPlace::Inside { before } else { InPlace::Past })
        });
        f()
    })
}
