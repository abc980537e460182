//! The names, and what each means.

use ::metrics::{Unit, describe_counter, describe_gauge};

pub(super) const WORKER_TIME: &str = "colored_worker_time_seconds_total";
pub(super) const POLLS: &str = "colored_polls_total";
pub(super) const SLICES: &str = "colored_slices_total";
pub(super) const STEALS: &str = "colored_steals_total";
pub(super) const PARKS: &str = "colored_parks_total";
pub(super) const WAKES: &str = "colored_wakes_total";
pub(super) const RUN: &str = "colored_run_seconds_total";
pub(super) const WAIT: &str = "colored_wait_seconds_total";
pub(super) const DEFAULT: &str = "colored_default_color_busy_ratio";
pub(super) const LANES: &str = "colored_lanes";
pub(super) const TASKS: &str = "colored_tasks";
pub(super) const TIMERS: &str = "colored_timers";
pub(super) const TIMERS_FIRED: &str = "colored_timers_fired_total";
pub(super) const LONG_POLLS: &str = "colored_long_polls_total";
pub(super) const BLOCKING: &str = "colored_blocking_threads";
pub(super) const LEVEL: &str = "colored_recorder_level";
pub(super) const COLOR_RUN: &str = "colored_color_run_seconds_total";
pub(super) const COLOR_WAIT: &str = "colored_color_wait_seconds_total";
pub(super) const COLOR_DEPTH: &str = "colored_color_depth";

/// Gauges that rise and fall, and add up over the runtimes of a process.
pub(super) const LEVELS: [&str; 5] = [LANES, TASKS, TIMERS, BLOCKING, COLOR_DEPTH];

/// Tells the recorder what the names mean.
pub(super) fn describe() {
    let times = [
        (WORKER_TIME, "Time of a worker, by what it did"),
        (RUN, "Time in which workers ran polls and callbacks of colors"),
        (WAIT, "Time that tasks and callbacks waited, by what they waited for"),
        (COLOR_RUN, "Time in which a worker ran polls and callbacks of the color"),
        (COLOR_WAIT, "Time that tasks and callbacks of the color waited, by what they waited for"),
    ];
    for (name, text) in times {
        describe_gauge!(name, Unit::Seconds, text);
    }
    let counters = [
        (POLLS, "Polls of tasks and runs of callbacks"),
        (SLICES, "Turns of colors on workers"),
        (STEALS, "Times that a worker took colors from another one"),
        (PARKS, "Times that a worker went to sleep"),
        (WAKES, "Times that a worker was woken from its sleep by another thread"),
        (TIMERS_FIRED, "Timers that have fired"),
        (LONG_POLLS, "Polls that held their worker for long"),
    ];
    for (name, text) in counters {
        describe_counter!(name, Unit::Count, text);
    }
    let gauges = [
        (LANES, "Colors in use"),
        (TASKS, "Tasks that have been spawned and have not completed"),
        (TIMERS, "Timers that are set"),
        (BLOCKING, "Threads for blocking calls"),
        (LEVEL, "What the runtime records, from 0 to 3"),
        (COLOR_DEPTH, "Tasks and callbacks of the color in line"),
    ];
    for (name, text) in gauges {
        describe_gauge!(name, Unit::Count, text);
    }
    let text = "Part of the time in which the default color ran or was kept";
    describe_gauge!(DEFAULT, text);
}
