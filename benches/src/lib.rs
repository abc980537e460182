//! The cost of `colored` beside tokio, measured in pairs.
//!
//! Small shared machines are noisy, and their noise is slow: a figure taken now and one taken
//! a minute later differ by more than the two runtimes do. So every [`Case`] holds all its rivals at
//! once and samples them in turn, A B B A, inside one process run, and reports the ratio of the
//! medians.
//!
//! A workload is written once, generic over [`Rival`], or once per rival where the
//! interfaces differ by nature (a cell against a mutex against an actor). The same
//! [`Case`]s feed two front ends: the paired runner (`cargo bench -p colored-benches --bench ratio`, module
//! [`mod@ratio`]) and criterion (`cargo bench`, in `benches/criterion`). The experiments of the papers are a workspace of their own,
//! `benches/papers`, which uses the modules of this one.
//!
//! | module | one idea |
//! |---|---|
//! | [`mod@measure`] | samples, entries, cases: alternate them and take medians |
//! | [`mod@rivals`] | the runtimes, and the operations that a workload uses |
//! | [`mod@workload`] | the cases that run inside this process |
//! | [`mod@http`] | hyper servers as child processes, and the load generator |
//! | [`mod@memory`] | bytes per idle task and per idle color |
//! | [`mod@placement`] | which cores a client and a server use |
//! | [`mod@counting`] | the allocator that counts them |
//! | [`mod@features`] | the features of what is measured |
//! | [`mod@page`] | blocks of a page that a program writes |
//! | [`mod@chart`] | plots as SVG |
//! | [`mod@machine`] | where and when figures were taken |
//! | [`mod@random`], [`mod@zipf`], [`mod@spin`] | loads that are the same in every run |

pub mod counting;
pub mod features;
pub mod http;
pub mod latch;
pub mod measure;
pub mod memory;
pub mod page;
pub mod placement;
pub mod random;
pub mod ratio;
pub mod rivals;
pub mod spin;
pub mod workload;
pub mod zipf;

pub use colored_figures::{chart, machine};
pub use measure::{Case, Entry, Mode, Role, Sample};
pub use rivals::{Rival, Runtimes};
