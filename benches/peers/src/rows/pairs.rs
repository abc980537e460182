//! Pairs of tasks send a number to and fro. The channels of all Rust runtimes are tokio's, which
//! need no runtime.

use crate::executors::{Executor, Pool, Smol};
use crate::foreign::{self, Tool};
use crate::setup::Setup;
use colored_benches::measure::{Case, Entry, Sample, Unit};
use tokio::sync::mpsc::channel;

/// Pairs at once.
const PAIRS: u64 = 64;

pub(super) fn case(setup: &Setup, subject: impl Executor) -> Case {
    let rounds = setup.count(300, 5);
    let mut entries = vec![
        Entry::subject(sampler(subject, rounds)),
        Entry::peer("tokio", sampler(setup.runtimes().tokio(), rounds)),
        Entry::peer("smol", sampler(Smol, rounds)),
        Entry::peer("async-executor", sampler(Pool::start(), rounds)),
    ];
    entries.extend(foreign::entry(Tool::Go, "pairs", rounds));
    entries.extend(foreign::entry(Tool::Asio, "pairs", rounds));
    Case { unit: Unit::ns("ns/round trip"), pace: setup.pace(), entries }
}

pub(super) fn sampler<E: Executor>(on: E, rounds: u64) -> impl FnMut() -> Sample {
    move || {
        Sample::time(PAIRS * rounds, || {
            let done = on.run(async move {
                let pairs: Vec<_> = (0..PAIRS).map(|_| on.spawn(pair(on, rounds))).collect();
                let mut done = 0;
                for pair in pairs {
                    done += pair.await;
                }
                done
            });
            assert_eq!(done, PAIRS * rounds, "a message was lost");
        })
    }
}

/// Plays against a task of its own, and returns the number of balls that came back.
async fn pair<E: Executor>(on: E, rounds: u64) -> u64 {
    let (ping, mut pinged) = channel::<u64>(1);
    let (pong, mut ponged) = channel::<u64>(1);
    let other = on.spawn_beside(async move {
        while let Some(ball) = pinged.recv().await {
            pong.send(ball).await.expect("the ball is awaited");
        }
    });
    let mut done = 0;
    for ball in 0..rounds {
        ping.send(ball).await.expect("the other plays");
        done += u64::from(ponged.recv().await == Some(ball));
    }
    drop(ping);
    other.await;
    done
}
