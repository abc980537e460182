//! What becomes of a task.

mod dropped;
mod join;
mod local;
mod million;
mod spawn_pinned;
mod task_local;
