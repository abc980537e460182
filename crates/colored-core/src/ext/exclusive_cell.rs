//! [`ColorCell::exclusive`]: the value across awaits.
//!
//! The section keeps all other work of the color from running, and the cell's mark refuses the
//! other branches of the same task. If the future is taken out of its task and dropped elsewhere,
//! the borrow of the value ends first, then the mark, then the section: so the next access sees all
//! changes.

use crate::ext::exclusive::exclusive_at;
use crate::kernel::cell::{AccessError, ColorCell};
use std::panic::Location;

impl<T: Send + 'static> ColorCell<T> {
    /// Uses the value, from inside its color, across awaits: an [`exclusive`](crate::exclusive())
    /// section with exclusive access to the value.
    ///
    /// Nothing else of the color runs meanwhile. Other branches of the same task do run, and for
    /// them the value is [`InUse`](AccessError::InUse). Calls and posts to the cell run afterwards.
    /// The rules of `exclusive` apply, also the one for sections in a loop; the value keeps the changes of `f`, whether `f` is done, was
    /// dropped or has panicked.
    ///
    /// ```
    /// # use colored_core as colored;
    /// # fn doc(cell: colored::ColorCell<Vec<u32>>) -> impl Future<Output = ()> {
    /// # async fn next() -> u32 { 1 }
    /// async move {
    ///     let total: u32 = cell
    ///         .exclusive(async |list| {
    ///             list.push(next().await); // `list` is a `&mut Vec<u32>`
    ///             list.iter().sum()
    ///         })
    ///         .await;
    ///     assert_eq!(total, 1);
    /// }
    /// # }
    /// ```
    ///
    /// Cancel safe if the future of `f` is: dropping the access ends the section. The access costs as much as a section.
    ///
    /// # Panics
    ///
    /// When it is polled, in the cases in which [`with`](Self::with) or `exclusive` panics.
    #[track_caller]
    pub fn exclusive<'a, R, F>(&'a self, f: F) -> impl Future<Output = R> + use<'a, T, R, F>
    where
        F: AsyncFnOnce(&mut T) -> R,
    {
        let site = Location::caller();
        exclusive_at(site, async move {
            if !self.inner.lane().is_current() {
                let wrong = AccessError::wrong_color(self.color());
                panic!("{site}: {wrong}{}", self.inner.sides())
            }
            // SAFETY: `is_current` says that the thread that polls this holds the lane.
            let busy = match unsafe { self.inner.occupy() } {
                Ok(busy) => busy,
                Err(error) => panic!("{site}: {error}{}", self.inner.sides()),
            };
            // SAFETY: the mark outlives the borrow. Only the task in which the section began polls
            // this future, and that task keeps the lane; elsewhere the future can only be dropped.
            let value = unsafe { self.inner.value() };
            let result = f(value).await;
            drop(busy);
            result
        })
    }
}
