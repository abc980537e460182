//! Stackful tasks on real runtimes. Miri, for which each stack is a thread, runs `double`.

#[cfg(not(miri))]
mod basics;
mod double;
#[cfg(not(miri))]
mod ends;
#[cfg(not(miri))]
mod ends_in_panics;
#[cfg(not(miri))]
mod guarantees;
#[cfg(not(miri))]
mod kept;
#[cfg(not(any(miri, colored_sanitize)))]
mod limits;
// A sanitizer has a handler of its own, and more mappings.
#[cfg(not(any(miri, colored_sanitize)))]
mod overflow;
#[cfg(not(miri))]
mod refused;
#[cfg(not(miri))]
mod simulated;
#[cfg(not(any(miri, colored_sanitize)))]
mod streams;
#[cfg(not(miri))]
mod support;
