//! A run without any code of the program: what it changes in the thread-locals of its thread is none of the program's, and what a
//! thread makes when it needs it first is there afterwards.

use super::attempts::{finish, new_run, start};
use super::control::Noted;
use super::faults::Faults;
use super::panics;
use super::run::Setup;
use super::turns::{THREAD, Way};
use crate::blocking::spawn_blocking;
use crate::sync::mpsc;
use crate::task::{spawn_unique, yield_now};
use crate::time::{Duration, sleep, timeout};
use colored_core::ColorCell;
use colored_sim::locals::{Locals, Noise};
use colored_sim::{Choices, Lent, Maker, Replay, stacks};
use std::sync::OnceLock;
use std::thread::Builder;

/// So many runs show what changes without the program.
const RUNS: u64 = 40;

/// What such runs change on each thread. None where a system does not show that.
pub(super) fn noise() -> Option<&'static Noise> {
    static NOISE: OnceLock<Option<Noise>> = OnceLock::new();
    let observe = || {
        if !stacks::ARE_HERE {
            return None;
        }
        let observed = |_: &Lent<()>| {
            let noise = Noise::default();
            warm_up(0);
            let first = Locals::now()?;
            for seed in 1..=RUNS {
                warm_up(seed);
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
pub(super) fn are_unchanged(first: &Locals) -> bool {
    noise().is_some_and(|noise| first.are_unchanged(noise))
}

/// Makes such a run on this thread.
pub(super) fn warm_up(seed: u64) {
    let (faults, hosts) = (Faults::none(), Vec::new());
    let setup = Setup { max_turns: 10_000, faults, hosts, on_threads: false };
    let replay = Replay::new(seed, 1 + seed as usize % 7);
    let keeps = panics::keep();
    let choices = Choices::at_random(seed);
    let run = new_run(&setup, seed, choices, Noted::default());
    let started = start(&|| program(seed), run, &replay, &setup, Way::Stacks, None);
    let (outcome, _) = finish(started, keeps, |_| ());
    assert_eq!(outcome, Some(Ok(())), "a run without a program");
}

async fn program(seed: u64) {
    let log = ColorCell::new(seed, 0);
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let tasks: Vec<_> = (0..1 + seed % 5)
        .map(|number| {
            let (log, sender) = (log.clone(), sender.clone());
            spawn_unique(async move {
                for turn in 0..seed % 4 {
                    log.post(|log| *log += 1);
                    yield_now().await;
                    log.call(move |log| *log += turn).await;
                    let _ = timeout(Duration::from_millis(number), sleep(Duration::MAX)).await;
                }
                let _ = sender.send(number);
            })
        })
        .collect();
    drop(sender);
    while receiver.recv().await.is_some() {}
    for task in tasks {
        let _ = task.await;
    }
    let _ = spawn_blocking(|| ()).await;
}
