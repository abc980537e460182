//! Colors that cost more to dispatch than they run: too many with too little work, and a few that change the worker with
//! every turn.

use crate::report::digest::{ColorLoad, Digest};
use crate::report::fault::{Fault, Finding};
use crate::report::text;
use std::cmp::Reverse;
use std::time::Duration;

/// What the dispatch of a color costs, with its share of a spawn and a wake, in seconds (`ratio`: 0.2 to 0.5 µs).
const DISPATCH: f64 = 0.4e-6;

/// Dispatch takes this part of the time, if a worker has no more time for a color: 1.6 µs.
const OVERHEAD: f64 = 0.25;

/// The workers are awake for this share of the CPUs.
const AWAKE: f64 = 0.5;

/// A color that moves with more of its slices does not stay anywhere.
const MOVES: f64 = 0.5;

/// This many colors, for each worker, that make most of the moves are few.
const FEW: usize = 2;

/// A move costs a steal or a wake, and the caches: some microseconds. A slice that runs for longer, in seconds, is worth it.
const MOVE: f64 = 10e-6;

/// Such colors run, or wait for a worker, for this part of the time in all.
const BUSY: f64 = 0.3;

/// Moves a second that are not worth a sentence: they take a hundredth of one CPU.
const MOVES_RATE: f64 = 2_000.0;

/// Many colors with little to do at a time.
pub(super) fn too_fine(digest: &Digest<'_>) -> Option<Finding> {
    let slices = digest.all.slices.max(1) as f64;
    // A worker that the system takes the CPU from is awake meanwhile.
    let awake = digest.runnable();
    let busy = digest.workers.cpu.map_or(awake, |cpu| cpu.min(awake)).as_secs_f64();
    let overhead = DISPATCH * slices / busy.max(1e-9);
    if digest.awake() < AWAKE || overhead < OVERHEAD {
        return None;
    }
    let sentence = format!(
        "a worker takes a color, runs it and goes to the next one within {}: the dispatch, which costs 0.2 to 0.5 µs, is {} \
         of that",
        text::seconds(busy / slices),
        if overhead > 0.5 { "most" } else { "a good part" }
    );
    let share = digest.share(awake) * overhead.min(1.0);
    let finding = Finding::new(Fault::TooFine, share, sentence).because(format!(
        "{} times a second a worker takes a color, which has {} turns for it, and runs for {}; {} steals and {} wakes a second",
        text::number(digest.rate(digest.all.slices)),
        text::number(digest.all.turns as f64 / slices),
        // Of the time with a CPU, as above.
        text::seconds(digest.turn() * digest.all.turns as f64 / slices),
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
    let waits: Duration = movers.iter().map(|load| load.usage.run + load.usage.wait_cpu).sum();
    let share = digest.share(waits);
    if !is_most || share < BUSY || digest.rate(moves) < MOVES_RATE {
        return None;
    }
    let worst = *movers.first()?;
    let run: Duration = movers.iter().map(|load| load.usage.run).sum();
    let sentence = format!(
        "{} changes the worker with {} of its turns, {} times a second, and runs {} there",
        digest.waits.name(worst.color),
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
