//! Static probes of a worker, for tracers of the system such as bpftrace: USDT, on Linux.
//!
//! With the feature `usdt`, each probe is an instruction that does nothing until a tracer replaces it, and a note in the program that
//! names it. Without the feature there is nothing.

#[cfg(not(feature = "usdt"))]
#[path = "probes/absent.rs"]
mod kind;
#[cfg(feature = "usdt")]
#[path = "probes/usdt.rs"]
mod kind;

pub(crate) use self::kind::{long_poll, park, slice_begin, slice_end, steal, unpark};
