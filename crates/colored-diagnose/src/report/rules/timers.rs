//! Timers that fire so often that the workers do little else.

use crate::report::digest::Digest;
use crate::report::fault::{Fault, Finding};
use crate::report::text;

/// This part of all turns is due to a timer.
const OF_TURNS: f64 = 0.4;

/// The workers are awake for this share of the CPUs.
const AWAKE: f64 = 0.02;

/// Timers a second. A worker that wakes up for each of fewer timers is not busy with them.
const RATE: f64 = 20_000.0;

/// A turn after a timer runs for less, in seconds: firing a timer, and dispatching its task, costs about as much.
const SHORT: f64 = 5e-6;

/// Timers that fire for hardly any work.
pub(super) fn storm(digest: &Digest<'_>) -> Option<Finding> {
    let turns = digest.all.turns.max(1) as f64;
    let turn = digest.turn();
    let of_turns = digest.fired as f64 / turns;
    if of_turns < OF_TURNS
        || digest.rate(digest.fired) < RATE
        || digest.awake() < AWAKE
        || turn > SHORT
    {
        return None;
    }
    let awake = digest.share(digest.runnable());
    let sentence = format!(
        "{} timers fire a second, and a turn then runs {}; the workers are awake {} of the time",
        text::number(digest.rate(digest.fired)),
        text::seconds(turn),
        text::percent(digest.awake())
    );
    let pending = digest.windows.last()?.timers.pending;
    let finding = Finding::new(Fault::TimerStorm, awake, sentence).because(format!(
        "{} of the turns follow a timer; {} timers fire at a time, and a worker was woken {} times a second; {pending} are set",
        text::percent(of_turns.min(1.0)),
        text::number(digest.fired as f64 / digest.timer_turns.max(1) as f64),
        text::number(digest.rate(digest.wakes))
    ));
    Some(finding.mend(
        "wait for the event in place of asking for it again and again (`sync::Notify`, `sync::watch`, a channel); let one \
         `time::interval` serve many items; choose longer times, or a coarser `Tuning::timer_resolution`",
    ))
}
