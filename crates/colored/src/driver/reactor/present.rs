//! [`Present`]: something that is there outside of simulations.

pub(super) struct Present<T>(Option<T>);

impl<T> Present<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Some(value))
    }

    pub(super) fn absent() -> Self {
        Self(None)
    }

    #[inline]
    pub(super) fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }
}
