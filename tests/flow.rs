//! Limits, admission, stages and priorities.

mod admission;
mod admission_answers;
mod budget;
mod limits;
mod priorities;
mod stage;
mod stage_close;
mod stage_end;
mod sync;
