//! Without the feature `sim` it is there.

pub(super) struct Present<T>(T);

impl<T> Present<T> {
    pub(super) fn new(value: T) -> Self {
        Self(value)
    }

    #[inline(always)]
    pub(super) fn get(&self) -> Option<&T> {
        Some(&self.0)
    }
}
