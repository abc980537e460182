//! Tasks, what limits their flow, and records of their runs.

mod flow;
mod tasks;
