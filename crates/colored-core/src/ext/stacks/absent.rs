//! No thread runs several stacks.

use super::StackLocal;

/// From now on, each stack of this thread has its own value of `of`. To be called before a stack uses it. Does nothing on a
/// thread that does not run several stacks.
#[inline(always)]
pub fn exchange_with_stacks(_: &'static dyn StackLocal) {}
