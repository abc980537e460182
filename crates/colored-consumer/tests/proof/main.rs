//! The proof by `kill -9`: members of a group handle numbered records, while their process is killed, stopped for longer
//! than a session, and asked to end, and members join and leave. Then all effects are checked.
//!
//! `COLORED_CONSUMER_PROOF=100000` sets how many records there are.

#![cfg(unix)]

mod check;
mod process;

use check::{Effects, Ended};
use process::{Member, Scratch};
use std::time::Duration;

const PARTITIONS: u32 = 12;
const KEYS: usize = 1_000;
const POISON: &str = "k700";

fn count() -> u64 {
    let words = std::env::var("COLORED_CONSUMER_PROOF");
    words.map_or(8_000, |words| words.parse().expect("a number of records"))
}

#[test]
fn kills_lose_nothing_and_repeat_only_what_was_not_committed() {
    let (scratch, count) = (Scratch::new(), count());
    let sent = process::send(&scratch, count, KEYS, PARTITIONS);
    let options = format!(
        "--members 4 --work-us 300 --fail-every 97 --poison {POISON} --churn-ms 150 --session-ms 1500"
    );
    let mut ends = Vec::new();
    let plan =
        [Ended::Killed, Ended::Left, Ended::Killed, Ended::Slept, Ended::Killed, Ended::Left];
    for (round, end) in plan.into_iter().cycle().take(8).enumerate() {
        let mut member = Member::start(&scratch, &options);
        // Somewhere in the middle of what is left.
        member.wait_for_effects(&scratch, count / 10 + 37 * round as u64, Duration::from_secs(5));
        if end == Ended::Slept {
            member.sleep_past_the_session(Duration::from_millis(2_500));
            member.wait_for_effects(&scratch, 50, Duration::from_secs(5));
        }
        let is_killed = end == Ended::Killed;
        let peak = if is_killed { member.kill() } else { member.leave() };
        assert!(peak < 300 << 20, "{peak} bytes of memory");
        ends.push((end, scratch.effects().len(), process::committed(&scratch, PARTITIONS)));
    }
    // The rest, without poison.
    let mut member = Member::start(&scratch, "--members 4 --session-ms 1500");
    member.wait_for_all(&scratch, &sent);
    member.leave();
    let committed = process::committed(&scratch, PARTITIONS);
    ends.push((Ended::Left, scratch.effects().len(), committed));
    let effects = Effects::read(&scratch.effects());
    effects.check_all_appear(&sent);
    effects.check_order(&sent);
    effects.check_no_overlap();
    let mut before = 0;
    for (end, length, committed) in &ends {
        effects.check_commits(*length, committed);
        effects.check_repeats(before, *length, *end, committed);
        before = *length;
    }
    assert_eq!(ends.last().unwrap().2.iter().sum::<u64>(), count, "all is committed");
}

/// Every key but one goes on, although that one fails for ever.
#[test]
fn a_poison_key_stops_only_itself() {
    let scratch = Scratch::new();
    let sent = process::send(&scratch, 3_000, 100, PARTITIONS);
    let mut member = Member::start(&scratch, "--members 2 --poison k3");
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
    let sent = process::send(&scratch, 4_000, 100, PARTITIONS);
    let mut member = Member::start(&scratch, "--members 2 --work-us 20000 --broken receipt");
    member.wait_for_effects(&scratch, 500, Duration::from_secs(60));
    member.kill();
    let length = scratch.effects().len();
    let committed = process::committed(&scratch, PARTITIONS);
    let effects = Effects::read(&scratch.effects());
    let checked = std::panic::catch_unwind(|| effects.check_commits(length, &committed));
    assert!(checked.is_err(), "a commit passes unfinished records");
    let mut member = Member::start(&scratch, "--members 2");
    member.wait_until_quiet(&scratch);
    member.leave();
    let effects = Effects::read(&scratch.effects());
    assert!(std::panic::catch_unwind(|| effects.check_all_appear(&sent)).is_err(), "some are lost");
}

/// A build that releases partitions without a drain has two members in a key at once, and the checks find it.
#[test]
fn a_build_without_a_drain_fails() {
    let scratch = Scratch::new();
    let sent = process::send(&scratch, 4_000, 100, PARTITIONS);
    let options = "--members 3 --work-us 3000 --churn-ms 60 --broken drain";
    let mut member = Member::start(&scratch, options);
    member.wait_for_all(&scratch, &sent);
    member.kill();
    let effects = Effects::read(&scratch.effects());
    let is_found = [
        std::panic::catch_unwind(|| effects.check_no_overlap()).is_err(),
        std::panic::catch_unwind(|| effects.check_repeats(0, usize::MAX, Ended::Left, &[]))
            .is_err(),
    ];
    assert!(is_found.contains(&true), "{is_found:?}");
}
