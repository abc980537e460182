//! Stackful tasks on real runtimes.

mod basics;
