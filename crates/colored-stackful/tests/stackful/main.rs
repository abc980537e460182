//! Stackful tasks on real runtimes.

mod basics;
mod ends;
mod ends_in_panics;
mod guarantees;
mod kept;
mod refused;
mod simulated;
mod support;
