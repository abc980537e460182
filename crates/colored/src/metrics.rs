//! What a runtime has done, in numbers: see [`Runtime::metrics`](crate::Runtime::metrics) and
//! [`Handle::metrics`](crate::Handle::metrics).
//!
//! Stages and admission have numbers of their own: [`stage::Metrics`](crate::stage::Metrics),
//! [`admission::Metrics`](crate::admission::Metrics).

pub use crate::runtime::{Metrics, WorkerMetrics};
