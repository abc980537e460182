//! There are no probes.

use crate::color::Color;
use crate::task::Id;

#[inline(always)]
pub(crate) fn slice_begin(_: usize, _: Color) {}

#[inline(always)]
pub(crate) fn slice_end(_: usize, _: Color, _: u32) {}

#[inline(always)]
pub(crate) fn steal(_: usize, _: usize, _: Color) {}

#[inline(always)]
pub(crate) fn park(_: usize) {}

#[inline(always)]
pub(crate) fn unpark(_: usize) {}

#[inline(always)]
pub(crate) fn long_poll(_: Color, _: Option<Id>, _: u64) {}
