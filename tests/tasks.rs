//! The life and the end of tasks.

mod colored_futures;
mod dropped;
mod join;
mod join_set;
mod join_set_settings;
mod local;
mod local_set;
mod million;
mod spawn_pinned;
mod task_local;
mod tracker;
