//! One seed, from the first event to the last.

use crate::fault::Fault;
use crate::oracle::{Tally, Violation};
use crate::profile::Ending;
use crate::program;
use crate::recorded::Recorded;
use crate::world::{Phase, World};
use std::fmt::Write;
use std::rc::Rc;

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) seed: u64,
    pub(crate) name: &'static str,
    pub(crate) events: u64,
    pub(crate) hash: u64,
    pub(crate) tally: Tally,
    /// Turns in workers' slices before the end.
    pub(crate) turns: u64,
    /// Whether the fault of the plan has been committed.
    pub(crate) fault_done: bool,
    pub(crate) violation: Option<Violation>,
    /// What the scheduler has recorded, if the plan says so.
    pub(crate) recorded: Recorded,
    /// The last lines of the trace, and the program, if a guarantee was not kept.
    pub(crate) lines: String,
}

/// How to run a seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Events before the end begins, unless a shutdown comes earlier.
    pub(crate) events: u64,
    /// Lines of the trace that are kept.
    pub(crate) lines: usize,
    pub(crate) fault: Fault,
    /// The only kind of programs to run, or any kind.
    pub(crate) kind: Option<&'static str>,
    /// Whether the scheduler records. The program then does nothing whose waits the oracle does not know.
    pub(crate) records: bool,
}

impl Plan {
    /// Runs a seed on this thread.
    pub(crate) fn run(self, seed: u64) -> Run {
        let world = World::begin(seed, &self);
        self.go_on(&world);
        let violation = world.violation();
        let run = Run {
            seed,
            name: world.profile.name,
            events: world.events(),
            hash: world.trace(|trace| trace.hash()),
            tally: world.oracle(|oracle| oracle.tally),
            turns: world.oracle(|oracle| oracle.slices.turns()),
            fault_done: world.stock.fault_done.get(),
            lines: if violation.is_some() { report(&world) } else { String::new() },
            violation,
            recorded: world.recorded(),
        };
        World::end();
        if run.violation.is_some() {
            // The world is broken, so its destructor must not touch it again.
            std::mem::forget(world);
        }
        run
    }

    fn go_on(&self, world: &World) {
        while !world.has_failed() {
            let events = world.events();
            match world.phase.get() {
                Phase::Active => match world.profile.ending {
                    Ending::Quiet if events > self.events => world.phase.set(Phase::Winding),
                    Ending::Abrupt if events > world.profile.end_at => {
                        world.phase.set(Phase::EndIsDue);
                    }
                    _ => {}
                },
                Phase::Winding if all_is_quiet(world) => {
                    world.compare_counters();
                    world.note_waits();
                    check_quiet(world);
                    world.shut_down();
                }
                Phase::Closing if world.all_stopped() => return after_the_end(world),
                Phase::EndIsDue | Phase::Winding | Phase::Closing => {}
            }
            if events > 4 * self.events + 1_000_000 {
                let phase = world.phase.get();
                let what = format!("{events} events, and no end; the program is {phase:?}");
                world.oracle(|oracle| oracle.violated("progress", what));
            }
            world.happens_until(u64::MAX);
        }
    }
}

/// Whether the program has ended, and nothing happens any more.
fn all_is_quiet(world: &World) -> bool {
    let left = world.oracle(|oracle| oracle.left());
    left == 0 && world.all_parked()
}

/// G5: the default color is the only one that is left.
fn check_quiet(world: &World) {
    let lanes = world.handle.scheduler().lanes();
    if lanes != 1 {
        let what = format!("{lanes} colors have a lane when all is over");
        world.oracle(|oracle| oracle.violated("G5", what));
    }
    world.oracle(|oracle| oracle.check_end());
}

/// Checks after all workers have stopped that nothing is left, and that late tasks end at once.
fn after_the_end(world: &World) {
    program::visit(world);
    program::let_all_go(world);
    world.oracle(|oracle| oracle.check_end());
    let lanes = world.handle.scheduler().lanes();
    if lanes != 1 {
        let what = format!("{lanes} colors have a lane after the shutdown");
        world.oracle(|oracle| oracle.violated("G5", what));
    }
}

fn report(world: &Rc<World>) -> String {
    let mut text = String::new();
    world.trace(|trace| {
        for line in trace.lines() {
            let _ = writeln!(text, "{line}");
        }
    });
    let _ = write!(text, "{}", world.profile);
    text
}
