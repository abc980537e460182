//! The counters of a runtime: see [`Runtime::metrics`](crate::Runtime::metrics) and
//! [`Handle::metrics`](crate::Handle::metrics).
//!
//! Stages and admissions (feature `stage`) have counters of their own.

#[cfg(feature = "metrics")]
pub use self::export::Exporter;
pub use crate::blocking::BlockingMetrics;
pub use crate::device::FileMetrics;
pub use crate::long_poll::{LongPoll, LongPollMetrics};
pub use crate::runtime::{Metrics, WorkerMetrics};

#[cfg(feature = "metrics")]
mod export;
