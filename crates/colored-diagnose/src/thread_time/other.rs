//! Systems that do not tell the time of another thread without `unsafe`.

use super::ThreadTime;

#[derive(Debug)]
pub(super) struct Thread;

impl Thread {
    pub(super) fn current() -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "as on Linux")]
    pub(super) fn time(&self) -> Option<ThreadTime> {
        None
    }
}
