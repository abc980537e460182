//! The models: every interleaving of two or three threads, through the code that ships.
//!
//! ```text
//! RUSTFLAGS="--cfg colored_loom" LOOM_MAX_PREEMPTIONS=3 \
//!     CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true cargo test -p colored-core --release --lib model
//! ```
//!
//! How a failure is reported:
//!
//! | broken | reported as |
//! |---|---|
//! | exclusion, or the order between one holder and the next | concurrent access to a [`Witness`] |
//! | a lost wake-up | a deadlock, or a count that is too low |
//! | a use after free | an access to an atomic that does not precede its drop |
//! | a reference that is never given back | a leaked `Arc` |
//! | a task or a lane that is queued twice | an assertion of [`doubles`] |
//!
//! The [`canary`] holds models that must fail: a suite that has stopped looking passes all others.

mod admit;
mod canary;
mod cell;
mod chain;
mod classes;
mod doubles;
mod exclusive;
mod home_queue;
mod inline;
mod join;
mod lane;
mod locals;
mod pinned;
mod policy;
mod pool;
mod read_batch;
mod read_chain;
mod readers;
mod record;
mod rest;
mod retire;
mod scheduler;
mod shutdown;
mod snapshot;
mod spares;
mod table;
mod task;
mod trace;
mod turn;
mod waits;
mod when;

use crate::kernel::color::Color;
use loom::model::Builder;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `model` in every interleaving with at most three preemptions, or as many as
/// `LOOM_MAX_PREEMPTIONS` says. Two bugs in three need one, nearly all the rest two.
pub(crate) fn check(model: impl Fn() + Send + Sync + 'static) {
    check_within(3, model);
}

/// As [`check`], for a model that is too large for three.
pub(crate) fn check_within(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let executions = count(preemptions, model);
    eprintln!("{executions} interleavings");
    assert!(executions > 1, "loom saw one interleaving only: it does not see the threads");
}

/// As [`check`], for a model that takes more than half a minute with two: with one, and two if `COLORED_LONG_TESTS` is set when
/// it is compiled.
pub(crate) fn check_large(model: impl Fn() + Send + Sync + 'static) {
    check_within(if option_env!("COLORED_LONG_TESTS").is_some() { 2 } else { 1 }, model);
}

/// How many interleavings there are.
fn count(preemptions: usize, model: impl Fn() + Send + Sync + 'static) -> usize {
    let executions = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&executions);
    let mut builder = Builder::new();
    builder.preemption_bound =
        Some(builder.preemption_bound.map_or(preemptions, |limit| limit.min(preemptions)));
    builder.max_branches = 20_000;
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        Color::restart_serial_numbers();
        model();
    });
    executions.load(Ordering::Relaxed)
}
