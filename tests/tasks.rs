//! The life and the end of tasks.

mod dropped;
mod group;
mod group_settings;
mod join;
mod local;
mod million;
mod spawn_pinned;
mod task_local;
mod tracker;
