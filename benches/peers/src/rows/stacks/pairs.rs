//! Pairs play ping-pong through channels.

use super::{prepare_may, start};
use crate::executors::PerPair;
use crate::rows::pairs;
use crate::setup::Setup;
use colored::Color;
use colored::sync::mpsc::channel;
use colored_benches::Rival;
use colored_benches::measure::{Case, Entry, Sample, Unit};
use colored_benches::rivals::Unique;
use colored_stackful::{spawn, wait};
use std::sync::mpsc::sync_channel;

/// Pairs at once.
const PAIRS: u64 = 64;

pub(in crate::rows) fn case(setup: &Setup) -> Case {
    prepare_may();
    let rounds = setup.count(300, 5);
    let on = setup.runtimes().unique();
    let all = |play: fn(u64) -> u64| {
        move || {
            Sample::time(PAIRS * rounds, || {
                assert_eq!(play(rounds), PAIRS * rounds, "a message was lost");
            })
        }
    };
    let ours = move || {
        Sample::time(PAIRS * rounds, || {
            assert_eq!(stacks(on, rounds), PAIRS * rounds, "a message was lost");
        })
    };
    let entries = vec![
        Entry::subject(ours),
        Entry::peer("futures", pairs::sampler(PerPair(on), rounds)),
        Entry::peer("may", all(coroutines)),
        Entry::peer("threads", all(threads)),
    ];
    Case { unit: Unit::ns("ns/round trip"), pace: setup.pace(), entries }
}

/// A color for each pair, as of the futures.
fn stacks(on: Unique, rounds: u64) -> u64 {
    Rival::run(on, async move {
        let pairs: Vec<_> = (0..PAIRS)
            .map(|_| {
                let color = Color::unique();
                spawn(color, move || pair(color, rounds))
            })
            .collect();
        let mut done = 0;
        for pair in pairs {
            done += pair.await.expect("no task panics");
        }
        done
    })
}

fn pair(color: Color, rounds: u64) -> u64 {
    let (ping, mut pinged) = channel::<u64>(1);
    let (pong, mut ponged) = channel::<u64>(1);
    let other = spawn(color, move || {
        while let Some(ball) = wait(pinged.recv()) {
            wait(pong.send(ball)).expect("the ball is awaited");
        }
    });
    let mut done = 0;
    for ball in 0..rounds {
        wait(ping.send(ball)).expect("the other plays");
        done += u64::from(wait(ponged.recv()) == Some(ball));
    }
    drop(ping);
    wait(other).expect("no task panics");
    done
}

fn coroutines(rounds: u64) -> u64 {
    let pair = move || {
        let (ping, pinged) = may::sync::mpsc::channel::<u64>();
        let (pong, ponged) = may::sync::mpsc::channel::<u64>();
        let other = may::go!(move || {
            while let Ok(ball) = pinged.recv() {
                pong.send(ball).expect("the ball is awaited");
            }
        });
        let mut done = 0;
        for ball in 0..rounds {
            ping.send(ball).expect("the other plays");
            done += u64::from(ponged.recv() == Ok(ball));
        }
        drop(ping);
        other.join().expect("no coroutine panics");
        done
    };
    let pairs: Vec<_> = (0..PAIRS).map(|_| may::go!(pair)).collect();
    pairs.into_iter().map(|pair| pair.join().expect("no coroutine panics")).sum()
}

fn threads(rounds: u64) -> u64 {
    let pair = move || {
        let (ping, pinged) = sync_channel::<u64>(1);
        let (pong, ponged) = sync_channel::<u64>(1);
        let other = start(move || {
            while let Ok(ball) = pinged.recv() {
                pong.send(ball).expect("the ball is awaited");
            }
        });
        let mut done = 0;
        for ball in 0..rounds {
            ping.send(ball).expect("the other plays");
            done += u64::from(ponged.recv() == Ok(ball));
        }
        drop(ping);
        other.join().expect("no thread panics");
        done
    };
    let pairs: Vec<_> = (0..PAIRS).map(|_| start(pair)).collect();
    pairs.into_iter().map(|pair| pair.join().expect("no thread panics")).sum()
}
