//! How much is let in, and what comes first.

mod admission;
mod admission_answers;
mod bounds;
mod budget;
mod priorities;
mod stage;
mod stage_close;
mod stage_end;
