//! Diagnosis of programs on the `colored` runtime. Users meet this crate as `colored::diagnose`, the feature `diagnose` of
//! the package `colored-rt`.
//!
//! # How it is built
//!
//! | module | purpose |
//! |---|---|
//! | `subject` | [`Subject`]: what this crate asks of the runtime, and the only way to it |
//! | `diagnosis` | [`Diagnosis`]: the state that this crate keeps for each runtime, and the events that the runtime tells it |
//! | `partitions` | what consumers of logs tell of their partitions |
//! | `usage` | where the time goes: counters, and the differences of two reads of them |
//! | `report` | what limits the program: rules over windows of usage |
//! | `observe`, `warnings` | windows of a second are collected, and reported |
//! | `dump`, `on_signal`, `stalls` | the tasks and what they wait for, and when a dump is made by itself |
//! | `trace` | records of what happened when, and files of them |
//! | `inspect` | the socket for `colored-top` |
//!
//! The runtime calls a [`Diagnosis`] with its events, and gives itself as a [`Subject`]. This crate does not depend on the
//! runtime.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod diagnosis;
pub mod dump;
pub mod inspect;
mod json;
mod kernel;
mod levels;
mod long_polls;
mod observe;
mod on_signal;
pub mod partitions;
pub mod report;
mod stalls;
mod subject;
mod thread_time;
mod threads;
pub mod trace;
pub mod usage;
mod wall;
mod warnings;

pub use self::diagnosis::{Diagnosis, LongPollHook, Settings};
pub use self::dump::make as make_dump;
pub use self::observe::observe_blocking;
pub use self::on_signal::OnSignal;
pub use self::stalls::{StallSettings, Stalls};
pub use self::subject::{Call, Kind, Notes, Subject, Timers, Told};
pub use self::trace::write_file;
pub use self::usage::snapshot;
pub use self::warnings::{Hook as WarningHook, Pace, Warnings};
