//! Colors that cost more to dispatch than they run: too many with too little work, and a few that change the worker with
//! every turn.

use crate::report::digest::{ColorLoad, Digest};
use crate::report::fault::{Fault, Finding};
use crate::report::text;
use std::cmp::Reverse;
use std::time::Duration;

/// A slice that runs for less, in seconds, is not worth a steal or a wake of a worker.
const SHORT: f64 = 2e-6;

/// The workers are awake for this share of the CPUs.
const AWAKE: f64 = 0.5;

/// This part of the awake time is no poll.
const OVERHEAD: f64 = 0.4;

/// A color that moves with more of its slices does not stay anywhere.
const MOVES: f64 = 0.5;

/// This many colors, for each worker, that make most of the moves are few.
const FEW: usize = 2;

/// A move costs a steal or a wake, and the caches: some microseconds. It has to add up to this share of one CPU.
const MOVE: f64 = 5e-6;
const MOVES_SHARE: f64 = 0.1;

/// Many colors with little to do at a time.
pub(super) fn too_fine(digest: &Digest<'_>) -> Option<Finding> {
    let slices = digest.all.slices.max(1) as f64;
    let run = digest.all.run.as_secs_f64() / slices;
    let awake = digest.workers.awake();
    let other = awake.saturating_sub(digest.all.run + digest.workers.io + digest.workers.timers);
    let overhead = other.as_secs_f64() / awake.max(Duration::from_nanos(1)).as_secs_f64();
    if digest.awake() < AWAKE || run > SHORT || overhead < OVERHEAD {
        return None;
    }
    let sentence = format!(
        "a color runs for {} at a time, and its dispatch takes {}: {} of the time of awake workers is no work",
        text::seconds(run),
        text::seconds(other.as_secs_f64() / slices),
        text::percent(overhead)
    );
    let finding = Finding::new(Fault::TooFine, digest.share(other), sentence).because(format!(
        "{} times a second a worker takes a color, which has {} turns for it; {} steals and {} wakes a second",
        text::number(digest.rate(digest.all.slices)),
        text::number(digest.all.turns as f64 / slices),
        text::number(digest.rate(digest.workers.steals)),
        text::number(digest.rate(digest.wakes))
    ));
    Some(finding.mend(
        "put more work under one color: one color for a group of keys (`Color::new(key % shards)`), several items a task, a \
         batch for each `post`; code of a few hundred nanoseconds needs no task of its own",
    ))
}

/// A few colors that hardly ever stay on a worker, and do little there.
pub(super) fn ping_pong(digest: &Digest<'_>) -> Option<Finding> {
    let mut movers: Vec<&ColorLoad> = digest.colors.iter().filter(|load| is_mover(load)).collect();
    movers.sort_by_key(|load| Reverse(load.usage.moves));
    movers.truncate(FEW * digest.windows.last()?.active_workers.max(1));
    let moves: u64 = movers.iter().map(|load| load.usage.moves).sum();
    let slices: u64 = movers.iter().map(|load| load.usage.slices).sum();
    let is_most = moves as f64 >= 0.5 * digest.all.moves as f64;
    let share = digest.rate(moves) * MOVE;
    if !is_most || share < MOVES_SHARE {
        return None;
    }
    let worst = *movers.first()?;
    let run: Duration = movers.iter().map(|load| load.usage.run).sum();
    let sentence = format!(
        "{} changes the worker with {} of its turns, {} times a second, and runs {} there",
        text::color(worst.color),
        text::percent(worst.usage.moves as f64 / worst.usage.slices as f64),
        text::number(digest.rate(worst.usage.moves)),
        text::seconds(run.as_secs_f64() / slices.max(1) as f64)
    );
    let finding = Finding::new(Fault::PingPong, share, sentence).about(worst).because(format!(
        "{} colors move {} times a second, of {} slices a second in all; workers are woken {} times a second",
        movers.len(),
        text::number(digest.rate(moves)),
        text::number(digest.rate(digest.all.slices)),
        text::number(digest.rate(digest.wakes))
    ));
    Some(finding.mend(
        "let tasks that talk to each other all the time share a color (`spawn_here`), call a `ColorCell` in place of a \
         message to a task and back, or send batches; pin neither to a worker (`spawn_pinned`) unless both",
    ))
}

/// Whether the color changes the worker with most slices, and does little in each.
fn is_mover(load: &ColorLoad) -> bool {
    let Usages { slices, moves, run } = Usages::of(load);
    moves >= MOVES * slices && run <= MOVE * slices
}

struct Usages {
    slices: f64,
    moves: f64,
    run: f64,
}

impl Usages {
    fn of(load: &ColorLoad) -> Self {
        let usage = &load.usage;
        Self {
            slices: usage.slices as f64,
            moves: usage.moves as f64,
            run: usage.run.as_secs_f64(),
        }
    }
}
