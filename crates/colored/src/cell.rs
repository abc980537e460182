//! Access to [`ColorCell`]s: the futures of calls, reads and behaviors, the sets of cells that
//! [`when`] takes, and their errors.
//!
//! | to name | the type is |
//! |---|---|
//! | the future of [`ColorCell::call`], [`ColorCell::checked_call`] | [`Call`], [`Call`]`<.., OrError>` |
//! | the future of [`ColorCell::read`], [`ColorCell::checked_read`] | [`Read`], [`Read`]`<.., OrError>` |
//! | the future of [`when`], [`checked_when`] | [`When`], [`When`]`<.., OrError>` |
//! | whether such a future panics or gives an error | [`OrPanic`], [`OrError`]; both are [`OnError`] |
//! | what [`when`] takes: cells, tuples and rows of them | [`Cells`] |
//! | a cell, or a row of cells, that a `when` only reads | [`Shared`], [`AllShared`] |
//! | the values of a row of cells, inside a `when` | [`Several`], [`SeveralShared`] |

#[doc(no_inline)]
pub use crate::{AccessError, CallError, ColorCell, checked_when, shared, when};
#[doc(inline)]
pub use colored_core::{
    AllShared, Call, Cells, OnError, OrError, OrPanic, Read, Several, SeveralShared, Shared, When,
};
