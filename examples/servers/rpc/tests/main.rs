//! Tests of the library as a whole.

mod fuzz;
mod loss;
mod refusals;
mod simulation;
mod stream;
