//! The tests of the runtime as a whole, a folder for each subject.
//!
//! They assert counts and traces. Where a bound is a time, the test runs alone, and the bound must be
//! met by one of a few attempts, whose median may not be far off: a neighbour on the machine can spoil an
//! attempt, a fault of the runtime spoils them all. An attempt that fails while other processes take the CPUs does not
//! count. A test of counts for the whole process runs in a process of its own.

mod support;

mod cells;
mod deadlock;
mod diagnosis;
mod dump;
mod files;
mod flow;
mod guarantees;
mod lab;
mod net;
mod shell;
mod tasks;
mod when;
