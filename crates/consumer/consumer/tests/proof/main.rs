//! The proof by `kill -9`: members of a group handle numbered records, while their process is killed, stopped for longer
//! than a session, and asked to end, and members join and leave. Then all effects are checked.
//!
//! `COLORED_CONSUMER_PROOF=100000` sets how many records there are.

#![cfg(unix)]

mod check;
mod log;
mod process;

use check::{Effects, Ended};
use process::Scratch;
use std::time::{Duration, Instant};

const PARTITIONS: u32 = 12;
const KEYS: usize = 1_000;
const POISON: &str = "k700";

fn count() -> u64 {
    let words = std::env::var("COLORED_CONSUMER_PROOF");
    words.map_or(8_000, |words| words.parse().expect("a number of records"))
}

/// The partitions and offsets that are committed: the engine leaves out no offset.
fn below(committed: &[u64]) -> impl Iterator<Item = (usize, u64)> {
    let all = committed.iter().enumerate();
    all.flat_map(|(partition, end)| (0..*end).map(move |offset| (partition, offset)))
}

/// Waits until no effect comes for a while.
fn wait_until_quiet(scratch: &Scratch) {
    let (mut before, mut since) = (usize::MAX, Instant::now());
    while since.elapsed() < Duration::from_secs(1) {
        let now = scratch.count();
        if now != before {
            (before, since) = (now, Instant::now());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn kills_lose_nothing_and_repeat_only_what_was_not_committed() {
    let (scratch, count) = (Scratch::new(), count());
    let sent = log::send(&scratch, count, KEYS, PARTITIONS);
    let options = format!(
        "--members 4 --work-us 300 --fail-every 97 --poison {POISON} --churn-ms 150 --session-ms 1500"
    );
    let mut ends = Vec::new();
    let plan =
        [Ended::Killed, Ended::Left, Ended::Killed, Ended::Slept, Ended::Killed, Ended::Left];
    for (round, end) in plan.into_iter().cycle().take(8).enumerate() {
        let mut member = log::start(&scratch, &options);
        // Somewhere in the middle of what is left.
        member.wait_for_effects(&scratch, count / 10 + 37 * round as u64, Duration::from_secs(5));
        if end == Ended::Slept {
            member.sleep_past_the_session(Duration::from_millis(2_500));
            member.wait_for_effects(&scratch, 50, Duration::from_secs(5));
        }
        let (is_killed, name) = (end == Ended::Killed, member.name());
        let peak = if is_killed { member.kill() } else { member.leave() };
        assert!(peak < 300 << 20, "{peak} bytes of memory");
        ends.push((name, end, scratch.count(), log::committed(&scratch, PARTITIONS)));
    }
    // The rest, without poison.
    let mut member = log::start(&scratch, "--members 4 --session-ms 1500");
    member.wait_for_all(&scratch, &sent);
    member.leave();
    let committed = log::committed(&scratch, PARTITIONS);
    ends.push((member.name(), Ended::Left, scratch.count(), committed));
    let effects = Effects::read(&scratch.effects());
    effects.check_all_appear(&sent);
    effects.check_order(&sent);
    effects.check_no_overlap();
    for (name, end, length, committed) in &ends {
        effects.check_commits(*length, committed, below(committed));
        effects.check_repeats(name, *end, (*length, committed));
    }
    assert_eq!(ends.last().unwrap().3.iter().sum::<u64>(), count, "all is committed");
}

/// Every key but one goes on, although that one fails for ever.
#[test]
fn a_poison_key_stops_only_itself() {
    let scratch = Scratch::new();
    let sent = log::send(&scratch, 3_000, 100, PARTITIONS);
    let mut member = log::start(&scratch, "--members 2 --poison k3");
    let others: Vec<_> = sent.iter().filter(|(key, _)| *key != "k3").cloned().collect();
    member.wait_for_all(&scratch, &others);
    member.leave();
    let effects = Effects::read(&scratch.effects());
    assert!(!effects.has_key("k3"));
}

/// A build that commits on receipt loses records at a kill, and the checks find it.
#[test]
fn a_build_that_commits_on_receipt_fails() {
    let scratch = Scratch::new();
    let sent = log::send(&scratch, 4_000, 100, PARTITIONS);
    let mut member = log::start(&scratch, "--members 2 --work-us 100000 --broken receipt");
    // A key has an effect each 100 ms, so a commit by time has come by then.
    member.wait_for_effects(&scratch, 800, Duration::from_secs(60));
    member.kill();
    let length = scratch.count();
    let committed = log::committed(&scratch, PARTITIONS);
    let effects = Effects::read(&scratch.effects());
    let checked =
        std::panic::catch_unwind(|| effects.check_commits(length, &committed, below(&committed)));
    assert!(checked.is_err(), "a commit passes unfinished records");
    let mut member = log::start(&scratch, "--members 2");
    wait_until_quiet(&scratch);
    member.leave();
    let effects = Effects::read(&scratch.effects());
    assert!(std::panic::catch_unwind(|| effects.check_all_appear(&sent)).is_err(), "some are lost");
}

/// A build that releases partitions without a drain has two members in a key at once, and the checks find it.
#[test]
fn a_build_without_a_drain_fails() {
    let scratch = Scratch::new();
    let sent = log::send(&scratch, 4_000, 100, PARTITIONS);
    let options = "--members 3 --work-us 3000 --churn-ms 60 --broken drain";
    let mut member = log::start(&scratch, options);
    member.wait_for_all(&scratch, &sent);
    member.kill();
    let effects = Effects::read(&scratch.effects());
    let is_found = [
        std::panic::catch_unwind(|| effects.check_no_overlap()).is_err(),
        std::panic::catch_unwind(|| effects.check_repeats(&member.name(), Ended::Left, (0, &[])))
            .is_err(),
    ];
    assert!(is_found.contains(&true), "{is_found:?}");
}
