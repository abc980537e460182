//! Without the feature `leaves`, these do nothing.

use crate::task::Leaf;

/// As with the feature, which makes it do something.
#[inline]
pub fn note(_: Leaf, _: bool) {}

/// As with the feature, which makes it do something.
#[inline]
pub fn forget(_: impl FnOnce(Leaf) -> bool) {}
