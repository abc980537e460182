//! Stackful tasks on real runtimes.

mod basics;
mod ends;
mod guarantees;
mod kept;
mod refused;
mod simulated;
mod support;
