//! What the flight recorder has recorded, and a timeline of it.
//!
//! Each worker keeps its last records in a ring of its own, and all other threads share one: 32,768 records a ring, unless
//! `Builder::trace_bytes` says otherwise. [`Level`] says what is recorded, and at what cost;
//! `Builder::trace_level`, the environment variable `COLORED_TRACE` and
//! `Handle::set_trace_level` set it.
//!
//! `Handle::trace` copies all rings into a [`Snapshot`], and delays nobody. A [`Trigger`] does the
//! same at the moment of an event, and keeps the snapshot until `Handle::frozen` takes it.
//! [`Snapshot::write_perfetto`] writes a snapshot as a file that <https://ui.perfetto.dev> opens. With the feature
//! `hdrhistogram`, `Snapshot::histograms` says how its times are distributed.

mod file;
mod freeze;
#[cfg(feature = "hdrhistogram")]
mod histograms;
mod perfetto;
mod snapshot;
mod trigger;

#[doc(hidden)]
pub use self::file::write_file;
pub(crate) use self::freeze::Freezer;
#[cfg(feature = "hdrhistogram")]
pub use self::histograms::Histograms;
pub use self::snapshot::{Snapshot, ThreadTrace};
pub use self::trigger::Trigger;
#[doc(inline)]
pub use colored_core::Level;
#[doc(inline)]
pub use colored_core::trace::{Event, Record};
