use crate::kernel::color::Color;
use crate::kernel::lane::LaneRef;
use crate::kernel::lane::refs::{Cursor, KEPT, NEAR, SHARDS};
use crate::kernel::sched::{Options, Park, Scheduler, SchedulerHandle};
use std::collections::{HashSet, VecDeque};

struct NoPark;

impl Park for NoPark {
    fn unpark(&self, _worker: usize) {}

    fn now(&self) -> u64 {
        0
    }
}

/// The buckets of all shards.
fn buckets(handle: &SchedulerHandle) -> Vec<usize> {
    handle.scheduler().table.buckets()
}

/// Colors come and go by the same number for so many rounds, so that buckets keep the marks of lanes that have gone.
fn come_and_go(handle: &SchedulerHandle, at_once: u64, rounds: u64) {
    let mut lanes: VecDeque<LaneRef> = (0..at_once).map(|n| handle.lane(Color::new(n))).collect();
    for n in at_once..at_once + rounds {
        lanes.push_back(handle.lane(Color::new(n)));
        lanes.pop_front();
    }
}

/// The shard of the default color is never empty.
#[test]
fn a_shard_whose_lanes_have_gone_keeps_few_buckets_whatever_marks_they_have() {
    let (handle, _workers) = Scheduler::with_workers(1, 1, Box::new(NoPark));
    let shards = SHARDS as u64;
    for at_once in [100, 1_000, 3_000, 6_000, 7_000, 20_000] {
        for rounds in [0, at_once / 3, at_once, 4 * at_once] {
            // By the shards' average.
            come_and_go(&handle, at_once * shards / 16, rounds * shards / 16);
            let kept = buckets(&handle);
            let most = *kept.iter().max().expect("there are shards");
            assert!(most <= KEPT, "{most} buckets after {at_once} lanes and {rounds} rounds");
        }
    }
    assert_eq!(handle.scheduler().table.len(), 1, "the default color");
}

/// A few lanes that stay do not keep the memory of those that have gone, and are found after they have moved.
#[test]
fn lanes_that_stay_are_found_in_a_shard_that_has_shrunk() {
    let (handle, _workers) = Scheduler::with_workers(1, 1, Box::new(NoPark));
    let stay: Vec<LaneRef> = (0..1_000).map(|n| handle.lane(Color::new(7 * n))).collect();
    come_and_go(&handle, 100_000, 10_000);
    let kept = buckets(&handle);
    assert!(kept.iter().all(|buckets| *buckets <= KEPT), "{kept:?}");
    let before = handle.scheduler().table.len();
    for (n, lane) in stay.iter().enumerate() {
        let found = handle.lane(Color::new(7 * n as u64));
        assert!(std::ptr::eq(&raw const *found, &raw const **lane), "color {}", 7 * n);
    }
    assert_eq!(handle.scheduler().table.len(), before);
}

/// Tasks that wait, each under a color of its own, are entered and leave one after the other: so they share cache lines.
#[test]
fn unique_colors_made_in_a_row_have_buckets_in_a_row() {
    let (handle, _workers) = Scheduler::with_workers(1, 1, Box::new(NoPark));
    let lanes: Vec<LaneRef> = (0..2_000).map(|_| handle.lane(Color::unique())).collect();
    let mut rows = Vec::new();
    handle.scheduler().table.for_each(|lane| rows.push(lane.color().number() / NEAR));
    assert_eq!(rows.len(), lanes.len() + 1);
    let together = rows.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert!(together > lanes.len() / 2, "{together} neighbours of {} lanes", lanes.len());
}

/// A shard of several pages whose lanes move after each page is read from the front a few times, and then at once.
#[test]
fn the_table_is_gone_through_although_lanes_keep_moving() {
    let (handle, _workers) = Scheduler::with_workers(1, 1, Box::new(NoPark));
    let lanes: Vec<LaneRef> = (0..40_000).map(|n| handle.lane(Color::new(n))).collect();
    let table = &handle.scheduler().table;
    let (mut cursor, mut pages, mut found) = (Cursor::default(), 0, HashSet::new());
    while let Some(page) = table.page(&mut cursor) {
        pages += 1;
        assert!(pages <= 8 * SHARDS, "it begins again and again");
        found.extend(page.iter().map(|lane| lane.color()));
        table.count_moves();
    }
    assert!(pages > 2 * SHARDS, "the shards have {pages} pages");
    assert!(lanes.iter().all(|lane| found.contains(&lane.color())));
}

#[test]
fn options_out_of_range_are_refused() {
    let usual = Options::default;
    assert!(usual().check().is_ok());
    for unsuitable in [
        Options { slice_polls: 0, ..usual() },
        Options { slice_nanos: 999, ..usual() },
        Options { trace_bytes: usize::MAX, ..usual() },
    ] {
        assert!(unsuitable.check().is_err(), "{unsuitable:?}");
    }
}
