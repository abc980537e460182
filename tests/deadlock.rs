//! Waits that cannot end, and waits that can.

mod crossings;
mod cycles;
mod deadlock_free;
mod kept;
mod older;
mod room;
mod waits_as_errors;
