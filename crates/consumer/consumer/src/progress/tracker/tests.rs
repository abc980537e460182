//! Random logs and orders of completion, beside a set of offsets.

use super::super::metadata::decode;
use super::*;
use std::collections::{BTreeSet, VecDeque};

fn start(tracker: &mut Tracker, offset: u64) {
    assert_eq!(tracker.accept(offset), Accepted::New);
    assert!(tracker.may_start(offset, false) && tracker.start(offset));
}

#[test]
fn a_commit_never_passes_an_unfinished_record() {
    let mut tracker = Tracker::new(10, Vec::new());
    for offset in 10..15 {
        start(&mut tracker, offset);
    }
    for (offset, low, map) in
        [(11, 10, vec![1..2]), (13, 10, vec![1..2, 3..4]), (10, 12, vec![1..2]), (12, 14, vec![])]
    {
        assert!(tracker.complete(offset));
        assert_eq!((tracker.low(), tracker.map()), (low, map), "after {offset}");
    }
    assert!(!tracker.complete(13), "it was done");
    assert!(tracker.complete(14));
    assert_eq!(tracker.commit(), (15, Vec::new()));
}

#[test]
fn a_record_starts_once_and_only_after_it_has_come() {
    let mut tracker = Tracker::new(0, Vec::new());
    assert!(!tracker.start(0));
    assert_eq!(tracker.accept(0), Accepted::New);
    assert!(!tracker.complete(0), "it has not started");
    assert!(tracker.start(0));
    assert!(!tracker.start(0));
    assert_eq!(tracker.accept(0), Accepted::Stale);
}

#[test]
fn offsets_that_the_log_does_not_have_count_as_done() {
    let mut tracker = Tracker::new(0, Vec::new());
    for offset in [3, 5, 9] {
        start(&mut tracker, offset);
    }
    assert!(tracker.complete(5));
    assert_eq!((tracker.low(), tracker.map()), (3, vec![1..3]));
    assert_eq!(tracker.distance(), 3);
    assert!(tracker.complete(3));
    assert_eq!((tracker.low(), tracker.distance()), (9, 1), "6 to 8 are no records");
    assert!(!tracker.pass(12), "9 is not done");
    assert!(tracker.complete(9));
    assert_eq!(tracker.commit(), (12, Vec::new()));
    assert!(tracker.pass(15) && tracker.low() == 15 && !tracker.pass(15));
    assert_eq!(tracker.accept(14), Accepted::Stale);
}

/// What a map calls done is passed with the offsets before it.
#[test]
fn a_reader_that_passes_a_place_leaves_the_map_above_it() {
    let mut tracker = Tracker::new(10, vec![2..4, 6..9]);
    assert!(tracker.pass(11));
    assert_eq!((tracker.low(), tracker.map()), (11, vec![1..3, 5..8]));
    assert!(tracker.pass(12));
    assert_eq!((tracker.low(), tracker.map()), (14, vec![2..5]), "12 and 13 are done");
    assert!(tracker.pass(17));
    assert_eq!(tracker.commit(), (19, Vec::new()));
}

#[test]
fn what_was_done_before_is_skipped_and_stays_in_the_map() {
    let mut tracker = Tracker::new(10, vec![2..4, 6..7]);
    assert_eq!(tracker.map(), [2..4, 6..7], "before anything has come");
    let accepted: Vec<_> = (10..18).map(|offset| tracker.accept(offset)).collect();
    let is_new: Vec<_> = accepted.iter().map(|accepted| *accepted == Accepted::New).collect();
    assert_eq!(is_new, [true, true, false, false, true, true, false, true]);
    assert_eq!(tracker.map(), [2..4, 6..7]);
    for offset in [10, 11] {
        assert!(tracker.start(offset) && tracker.complete(offset));
    }
    assert_eq!((tracker.low(), tracker.map()), (14, vec![2..3]));
}

/// One is stuck, and 100,000 behind it are done.
#[test]
fn a_stuck_record_does_not_stop_others_while_the_map_is_small() {
    let mut tracker = Tracker::new(0, Vec::new());
    start(&mut tracker, 0);
    for offset in 1..=100_000 {
        start(&mut tracker, offset);
        assert!(tracker.complete(offset));
    }
    let (offset, metadata) = tracker.commit();
    assert_eq!((offset, metadata.len() < 20), (0, true));
}

#[test]
fn a_map_that_could_grow_too_large_stops_what_is_far_and_not_the_first() {
    let mut tracker = Tracker::new(0, Vec::new());
    let mut stopped = None;
    for offset in 0..100_000 {
        assert_eq!(tracker.accept(offset), Accepted::New);
        if offset == 0 {
            continue;
        }
        if !tracker.may_start(offset, false) {
            stopped = Some(offset);
            break;
        }
        assert!(tracker.start(offset));
        if offset % 2 == 0 {
            assert!(tracker.complete(offset));
        }
    }
    assert_eq!(stopped, Some(MOST_BITS));
    assert!(tracker.commit().1.len() <= 4096);
    assert!(tracker.may_start(0, false) && tracker.start(0) && tracker.complete(0));
    assert!(tracker.may_start(MOST_BITS, false), "one step is room for one more");
}

/// Every 500th record is stuck, and two of three others belong to one key, whose records are done one after the other while
/// the rest runs far ahead. All but the stuck ones are done in the end.
#[test]
fn stuck_records_stop_no_other() {
    const LAST: u64 = 80_000;
    let (mut tracker, mut chance) = (Tracker::new(0, Vec::new()), fastrand::Rng::with_seed(3));
    let is_stuck = |offset: u64| offset.is_multiple_of(500);
    // The key, and the others.
    let (mut slow, mut quick) = (VecDeque::new(), VecDeque::new());
    for offset in 0..LAST {
        assert_eq!(tracker.accept(offset), Accepted::New);
        match (is_stuck(offset), chance.u8(..3)) {
            (true, _) => {}
            (_, 0) => quick.push_back(offset),
            _ => slow.push_back(offset),
        }
    }
    while !slow.is_empty() || !quick.is_empty() {
        let before = slow.len() + quick.len();
        for (of_key, most) in [(false, usize::MAX), (true, 1)] {
            for _ in 0..most {
                let lowest = slow.front().into_iter().chain(quick.front()).min().copied();
                let waiting = if of_key { &mut slow } else { &mut quick };
                let Some(&offset) = waiting.front() else { break };
                if !tracker.may_start(offset, lowest == Some(offset)) {
                    break;
                }
                assert!(tracker.start(offset) && tracker.complete(offset));
                waiting.pop_front();
            }
        }
        assert!(slow.len() + quick.len() < before, "{before} wait, and none may start");
    }
    assert!(tracker.commit().1.len() <= 4096);
}

/// A log with gaps; records start when they may, and are done in any order. After each step: the commit passes nothing
/// that is unfinished, its map says exactly what is done, and it fits. A restart from any commit goes on like that.
#[test]
fn every_commit_is_true_and_fits_in_any_order() {
    for seed in 0..60 {
        let mut chance = fastrand::Rng::with_seed(seed);
        let (mut tracker, mut done) = (Tracker::new(0, Vec::new()), BTreeSet::new());
        let (mut waiting, mut started, mut next, mut log_end) = (Vec::new(), Vec::new(), 0, 1);
        let width = [3, 600, 40_000][chance.usize(..3)];
        for _ in 0..6_000 {
            match chance.u8(..8) {
                0..3 if next < tracker.low() + width => {
                    while seed % 2 == 0 && next % 13 > 9 {
                        next += 1;
                    }
                    match tracker.accept(next) {
                        Accepted::New => {
                            assert!(!done.contains(&next), "seed {seed}: {next} comes again");
                            waiting.push(next);
                        }
                        Accepted::Done => assert!(done.contains(&next), "seed {seed}: {next}"),
                        Accepted::Stale => panic!("seed {seed}: {next} is stale"),
                    }
                    next += 1;
                    log_end = log_end.max(next);
                }
                3..6 if !waiting.is_empty() => {
                    let at = chance.usize(..waiting.len());
                    let offset = waiting[at];
                    if tracker.may_start(offset, waiting.iter().min() == Some(&offset)) {
                        assert!(tracker.start(offset));
                        started.push(waiting.swap_remove(at));
                    }
                }
                6 if !started.is_empty() => {
                    let offset = started.swap_remove(chance.usize(..started.len()));
                    assert!(tracker.complete(offset));
                    done.insert(offset);
                }
                7 if chance.u8(..200) == 0 => {
                    let (low, metadata) = tracker.commit();
                    let map = decode(&metadata, log_end - low).unwrap();
                    tracker = Tracker::new(low, map);
                    (waiting, started, next) = (Vec::new(), Vec::new(), low);
                }
                _ => {}
            }
            let unfinished = waiting.iter().chain(&started).min();
            assert!(unfinished.is_none_or(|first| tracker.low() <= *first), "seed {seed}");
            assert_eq!(tracker.first_unfinished(), unfinished.copied(), "seed {seed}");
        }
        let (low, metadata) = tracker.commit();
        assert!(metadata.len() <= 4096, "seed {seed}: {}", metadata.len());
        let map = decode(&metadata, u64::MAX).unwrap();
        let is_claimed = |offset: u64| map.iter().any(|range| range.contains(&(offset - low)));
        for offset in waiting.iter().chain(&started) {
            assert!(!is_claimed(*offset), "seed {seed}: {offset} is unfinished");
        }
        for offset in done.range(low..) {
            assert!(is_claimed(*offset), "seed {seed}: {offset} is done, and not in the map");
        }
    }
}
