//! Access to [`ColorCell`]s: the futures of calls, reads and behaviors, the sets of cells that
//! [`when`] takes, and their errors.
//!
//! | to name | the type is |
//! |---|---|
//! | the future of [`ColorCell::call`], [`ColorCell::checked_call`] | [`Call`], [`Checked`]`<Call<..>>` |
//! | the future of [`ColorCell::read`], [`ColorCell::checked_read`] | [`Read`], [`Checked`]`<Read<..>>` |
//! | the future of [`when`], [`checked_when`] | [`When`], [`Checked`]`<When<..>>` |
//! | what [`when`] takes: cells, tuples and rows of them | [`Cells`] |
//! | a cell, or a row of cells, that a `when` only reads | [`Shared`] |
//! | the values of a row of cells, inside a `when` | [`Several`], or `&Several` if it only reads |
//!
//! Where a function panics and where it returns an error: [the rule](crate#panic-or-error).

#[doc(no_inline)]
pub use crate::{AccessError, CallError, ColorCell, checked_when, shared, when};
#[doc(inline)]
pub use colored_core::{Call, Cells, Checked, Read, Several, Shared, When};
