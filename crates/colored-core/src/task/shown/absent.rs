//! Without the feature `leaves`, no leaf is noted.

use super::Schedule;
use super::header::TaskRef;
use super::leaf::Leaf;

impl<S: Schedule> TaskRef<S> {
    /// # Safety
    ///
    /// As with the feature.
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) unsafe fn leaf(self, _now: u64) -> Option<(Leaf, u64)> {
        None
    }
}
