//! The probes of the provider `colored`. The front page of the runtime says what their arguments are.

use crate::color::Color;
use crate::task::Id;
use probe::probe;

#[inline(always)]
pub(crate) fn slice_begin(worker: usize, color: Color) {
    probe!(colored, slice_begin, worker, color.number());
}

#[inline(always)]
pub(crate) fn slice_end(worker: usize, color: Color, polls: u32) {
    probe!(colored, slice_end, worker, color.number(), polls);
}

#[inline(always)]
pub(crate) fn steal(worker: usize, victim: usize, color: Color) {
    probe!(colored, steal, worker, victim, color.number());
}

#[inline(always)]
pub(crate) fn park(worker: usize) {
    probe!(colored, park, worker);
}

#[inline(always)]
pub(crate) fn unpark(worker: usize) {
    probe!(colored, unpark, worker);
}

#[inline(always)]
pub(crate) fn long_poll(color: Color, task: Option<Id>, nanos: u64) {
    probe!(colored, long_poll, color.number(), task.map_or(0, Id::get), nanos);
}
