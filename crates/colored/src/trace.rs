//! What the flight recorder has recorded, and a timeline of it.
//!
//! A [`Snapshot`] holds the records of all threads of a runtime. [`Snapshot::write_perfetto`] writes it as a file that
//! <https://ui.perfetto.dev> opens.

mod perfetto;
mod snapshot;

pub use self::snapshot::{Snapshot, ThreadTrace};
#[doc(inline)]
pub use colored_core::trace::{Event, Record};
