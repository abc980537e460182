//! The counters of a runtime: see [`Runtime::metrics`](crate::Runtime::metrics) and
//! [`Handle::metrics`](crate::Handle::metrics).
//!
//! Stages and admissions have counters of their own: [`stage::Metrics`](crate::stage::Metrics),
//! [`admission::Metrics`](crate::admission::Metrics).

pub use crate::blocking::BlockingMetrics;
pub use crate::device::FileMetrics;
pub use crate::long_poll::{LongPoll, LongPollMetrics};
pub use crate::runtime::{Metrics, WorkerMetrics};
