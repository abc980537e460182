//! Polls that hold their workers for long: those that block their threads, and those that compute.

use super::MOSTLY;
use crate::report::digest::Digest;
use crate::report::fault::{Fault, Finding};
use crate::report::hotspot;
use crate::report::text;
use crate::usage::Window;
use colored_core::LongPoll;
use std::fmt::Write;
use std::time::Duration;

/// A poll that computes for less is not long, whatever the others do.
const LONG: Duration = Duration::from_millis(10);

/// A long poll is longer than so many others.
const TIMES: f64 = 20.0;

/// Long polls are exceptions: of all turns there are not more of them. A batch of long polls alone delays nobody.
const EXCEPTIONS: f64 = 0.2;

/// Less of one worker's time, in one poll or in several, is an accident.
const ONCE: f64 = 0.05;
const SEVERAL: f64 = 0.02;

/// The least mean number of blocked workers at which short blocking calls are a fault.
const BLOCKED: f64 = 0.1;

/// Polls that block their threads.
pub(super) fn blocked(digest: &Digest<'_>) -> Option<Finding> {
    let blocking: Vec<&LongPoll> =
        digest.long_polls.iter().filter(|poll| is_blocking(poll)).collect();
    let lost = digest.share(blocking.iter().map(|poll| off_cpu(poll)).sum());
    if !is_enough(lost, blocking.len()) {
        return short_blocks(digest);
    }
    let worst = blocking.iter().max_by_key(|poll| poll.time)?;
    let sentence = format!(
        "polls block their threads {} a second; {} of {}, {}, had no CPU for {} of {}",
        text::seconds(lost),
        if worst.task.is_some() { "a task" } else { "a callback" },
        text::color(worst.color),
        text::spawned(worst.spawned),
        text::time(off_cpu(worst)),
        text::time(worst.time)
    );
    let finding = of_poll(digest, Fault::BlockedWorker, lost, sentence, worst);
    Some(finding.because(polls(digest, &blocking)).mend(BLOCK))
}

const BLOCK: &str = "await in place of the call that blocks (`time::sleep`, `sync`, `net`, `fs`), or run it by \
    `spawn_blocking` or `block_in_place`";

/// Polls that block for less than the watch sees.
fn short_blocks(digest: &Digest<'_>) -> Option<Finding> {
    let blocked = blocked_workers(digest.windows);
    if blocked < BLOCKED
        || digest.part(|windows| blocked_workers(windows) >= BLOCKED / 2.0) < MOSTLY
    {
        return None;
    }
    let color = digest.colors.first()?;
    let sentence = format!(
        "polls block their threads {} a second, in short calls; {} ran longest",
        text::seconds(blocked),
        digest.waits.name(color.color)
    );
    let finding = Finding::new(Fault::BlockedWorker, blocked, sentence).about(color);
    let evidence = format!(
        "{} workers were inside a poll and blocked on average, of {} that were awake",
        text::number(blocked),
        text::number(digest.share(digest.workers.awake()))
    );
    Some(finding.because(evidence).mend(BLOCK))
}

/// How many workers were blocked on average.
fn blocked_workers(windows: &[Window]) -> f64 {
    windows.iter().filter_map(|window| window.blocked).sum::<f64>() / windows.len() as f64
}

/// A few polls that compute for far longer than the others.
pub(super) fn long(digest: &Digest<'_>) -> Option<Finding> {
    let short = digest.short_turn();
    let is_long = |poll: &&LongPoll| {
        let time = on_cpu(poll);
        // Where the system tells, a poll that was seen once is of an unknown kind.
        let is_known = poll.cpu.is_some() || digest.workers.cpu.is_none();
        is_known && !is_blocking(poll) && time >= LONG && time.as_secs_f64() >= TIMES * short
    };
    let long: Vec<&LongPoll> = digest.long_polls.iter().filter(is_long).collect();
    let share = digest.share(long.iter().map(|poll| poll.time).sum());
    let turns = digest.all.turns.max(long.len() as u64) as f64;
    if !is_enough(share, long.len()) || long.len() as f64 > EXCEPTIONS * turns {
        return None;
    }
    let worst = long.iter().max_by_key(|poll| poll.time)?;
    let mut sentence = format!(
        "a poll of {}, {}, computes for {}",
        text::color(worst.color),
        text::spawned(worst.spawned),
        text::time(on_cpu(worst)),
    );
    if short > 0.0 {
        write!(sentence, "; another turn of the program takes {}", text::seconds(short))
            .expect("a text takes all");
    }
    let finding = of_poll(digest, Fault::LongPoll, share, sentence, worst);
    Some(finding.because(polls(digest, &long)).mend(
        "compute in `spawn_blocking`, or call `yield_now().await` every 100 µs or so, and `task::consume_budget().await` in a \
         loop over a channel that is never empty: nothing else of the color runs during the poll, and the worker's other \
         colors are late by some milliseconds",
    ))
}

fn of_poll(
    digest: &Digest<'_>,
    fault: Fault,
    share: f64,
    sentence: String,
    poll: &LongPoll,
) -> Finding {
    let finding = Finding::new(fault, share, sentence);
    let mut finding = Finding { color: Some(poll.color), ..finding }.at(poll.spawned);
    let time = format!("the time of {}", text::color(poll.color));
    finding.evidence.extend(hotspot::evidence(digest.windows, poll.color, &time));
    match digest.color(poll.color).filter(|color| color.queue >= 0.1) {
        Some(color) => finding.because(format!(
            "tasks wait for {} {} a second",
            digest.waits.name(color.color),
            text::seconds(color.queue)
        )),
        None => finding,
    }
}

fn polls(digest: &Digest<'_>, polls: &[&LongPoll]) -> String {
    let of_time = text::percent(digest.share(polls.iter().map(|poll| poll.time).sum()));
    let count = polls.len();
    let were = if count == 1 { "poll was" } else { "polls were" };
    format!(
        "{count} such {were} seen in {}: {of_time} of the time of one worker",
        text::seconds(digest.length)
    )
}

fn is_enough(share: f64, count: usize) -> bool {
    share >= if count > 1 { SEVERAL } else { ONCE }
}

/// Whether the poll had no CPU for half of its time, though the system would have given it one.
fn is_blocking(poll: &LongPoll) -> bool {
    poll.cpu.is_some() && off_cpu(poll) * 2 > poll.time
}

fn off_cpu(poll: &LongPoll) -> Duration {
    let on = poll.cpu.unwrap_or(poll.time) + poll.delayed.unwrap_or_default();
    poll.time.saturating_sub(on)
}

/// The time that the poll computed, as far as that is known.
fn on_cpu(poll: &LongPoll) -> Duration {
    poll.cpu.map_or(poll.time, |cpu| cpu.min(poll.time))
}
