//! A run without any code of the program: what it changes in the thread-locals of its thread is none of the program's, and what a
//! thread makes when it needs it first is there afterwards.

use super::attempts::{finish, new_run, start};
use super::control::Noted;
use super::faults::Faults;
use super::panics;
use super::run::Setup;
use super::runtime::Shell;
use super::turns::{THREAD, Way};
use crate::locals::{Locals, Noise};
use crate::{Choices, Lent, Maker, Replay, stacks};
use std::hash::RandomState;
use std::sync::OnceLock;
use std::thread::Builder;
use std::time::Duration;

/// So many runs show what changes without the program: the second byte of a count that grows by one in each of them, too.
const RUNS: u64 = 260;

/// What such runs change on each thread. None where a system does not show that.
pub(super) fn noise(shell: Shell) -> Option<&'static Noise> {
    static NOISE: OnceLock<Option<Noise>> = OnceLock::new();
    let observe = move || {
        if !stacks::ARE_HERE {
            return None;
        }
        let observed = move |_: &Lent<()>| {
            let noise = Noise::default();
            warm_up(shell, 0);
            let first = Locals::now()?;
            for seed in 1..=RUNS {
                // The keys of hashers are such a count, from a random number on.
                let _counted = RandomState::new();
                warm_up(shell, seed);
                Locals::now()?.add_noise(&first, &noise);
            }
            Some(noise)
        };
        let mut maker = Maker::start(Builder::new().name(THREAD.to_owned())).ok()?;
        maker.run(&(), observed, Duration::MAX, || false)?.ok()?
    };
    NOISE.get_or_init(observe).as_ref()
}

/// Whether this thread shows a run its thread-locals as they were.
pub(super) fn are_unchanged(shell: Shell, first: &Locals) -> bool {
    noise(shell).is_some_and(|noise| first.are_unchanged(noise))
}

/// Makes such a run on this thread.
pub(super) fn warm_up(shell: Shell, seed: u64) {
    let (faults, hosts) = (Faults::none(), Vec::new());
    let setup = Setup { max_turns: 10_000, faults, hosts, on_threads: false, tokio: false, shell };
    let replay = Replay::new(seed, 1 + seed as usize % 7);
    let keeps = panics::keep();
    let choices = Choices::at_random(seed);
    let run = new_run(&setup, seed, choices, Noted::default(), None);
    let started = start(&|| (shell.warm_up)(seed), run, &replay, &setup, Way::Stacks, None);
    let (outcome, ..) = finish(started, keeps, |_| ());
    assert_eq!(outcome, Some(Ok(())), "a run without a program");
}
