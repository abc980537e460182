//! Tests of the library as a whole.

#[cfg(target_os = "linux")]
mod bounds;
mod fuzz;
mod loss;
mod refusals;
mod simulation;
mod stream;
