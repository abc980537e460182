//! Whole schedules of up to 64 workers, in virtual time and on one thread, from a seed.
//!
//! A seed is a program ([`profile`]), and every choice in its run: the worker that steps next, the time that a poll
//! takes, the acts of a task. An [`oracle`] keeps a reference queue per color and the state of every task beside
//! the run, and compares: G1, G2, G4 to G9, G12, the counters, and that all ends. The models check what the threads
//! of a real machine do inside a queue. The simulator checks everything above that, with many workers and for long.
//!
//! ```text
//! cargo test -p colored-core --test simulator                                     a few seeds
//! COLORED_SIM_SEEDS=1000 cargo test --release -p colored-core --test simulator    a thousand
//! COLORED_SIM_SEED=17 cargo test --release -p colored-core --test simulator       that one again
//! ```
//!
//! With `COLORED_SIM_KIND=tangles` all programs are of that kind, and with `COLORED_SIM_EVENTS=20000` of that
//! length. A failure prints the command that runs it again; with `COLORED_SIM_LINES=5000` it shows so many lines of
//! the trace before it.
#![cfg(not(colored_loom))]

mod again;
mod agenda;
mod chance;
mod fault;
mod oracle;
mod policy;
mod profile;
mod program;
mod recorded;
mod run;
mod slab;
mod trace;
mod world;

use self::again::environment;
use self::fault::Fault;
use self::run::{Plan, Run};
use colored_core::Color;
use std::collections::BTreeMap;
use std::panic::{self, resume_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How many seeds are run twice.
fn replayed() -> u64 {
    match again::is_long() {
        true if cfg!(debug_assertions) => 40,
        true => 200,
        false => 12,
    }
}

/// A real thread needs a stack for all the steps inside one another that a world allows.
const STACK: usize = 64 << 20;

fn plan() -> Plan {
    again::plan(&environment())
}

/// Silences the panics of hops that would close a cycle.
fn be_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let text = info.payload().downcast_ref::<String>();
            if !text.is_some_and(|text| text.contains("closes a cycle")) {
                loud(info);
            }
        }));
    });
}

/// Runs seeds on all cores, and hands each result to `each`.
fn run_all(plan: Plan, seeds: std::ops::Range<u64>, mut each: impl FnMut(Run)) {
    be_quiet();
    let next = AtomicU64::new(seeds.start);
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get());
    let (results, arrived) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads {
            let (results, next, seeds) = (results.clone(), &next, seeds.clone());
            let work = move || {
                // Ordering: only the distinctness of the seeds matters.
                while let seed = next.fetch_add(1, Ordering::Relaxed)
                    && seed < seeds.end
                {
                    // The number of a fresh color depends on how many its thread has made before, so each run has a
                    // thread.
                    let thread = thread::Builder::new().stack_size(STACK);
                    let run = thread.spawn_scoped(scope, move || plan.run(seed)).expect("a thread");
                    let run = run.join().unwrap_or_else(|panic| resume_unwind(panic));
                    if results.send(run).is_err() {
                        return;
                    }
                }
            };
            scope.spawn(work);
        }
        drop(results);
        for run in arrived {
            each(run);
        }
    });
}

/// Shows G1, G2, G4, G5, G6, G7, G8, G9, G12.
#[test]
fn whole_schedules_keep_all_guarantees() {
    let (plan, seeds) = (plan(), again::seeds(&environment()));
    let count = seeds.end - seeds.start;
    let start = Instant::now();
    let mut kinds = BTreeMap::<_, Totals>::new();
    run_all(plan, seeds, |run| {
        if let Some(report) = again::report(&plan, &run) {
            eprintln!("{}", run.lines);
            panic!("{report}");
        }
        kinds.entry(run.name).or_default().add(&run);
    });
    for (name, totals) in &kinds {
        println!("{name:<14} {totals}");
    }
    let all = kinds.values().fold(0, |sum, totals| sum + totals.events);
    let per_second = Duration::as_secs_f64(&start.elapsed());
    println!("{count} seeds, {all} events, {:.1} seeds/s", count as f64 / per_second);
    // A few programs of a kind may each lack some act.
    let mut enough = kinds.iter().filter(|(_, totals)| totals.seeds >= 10);
    assert!(
        enough.all(|(kind, totals)| totals.is_varied(kind)),
        "a kind of program does too little"
    );
}

/// Changes the state of the whole process: the serial numbers of fresh colors.
fn disturb() {
    for _ in 0..300_000 {
        let _used = Color::unique();
    }
}

/// The sums over all programs of a kind.
#[derive(Default)]
struct Totals {
    seeds: u64,
    events: u64,
    turns: u64,
    tasks: u64,
    callbacks: u64,
    hops: u64,
    panics: u64,
    aborts: u64,
    classes: u64,
    lent: u64,
    sections: u64,
    put_off: u64,
    refused: u64,
    locals: u64,
    admitted: u64,
    lined_up: u64,
    deepest: u64,
}

impl Totals {
    fn add(&mut self, run: &Run) {
        self.seeds += 1;
        self.events += run.events;
        self.turns += run.turns;
        self.tasks += run.tally.spawned;
        self.callbacks += run.tally.run + run.tally.inline;
        self.hops += run.tally.hops;
        self.panics += run.tally.panicked;
        self.aborts += run.tally.cancelled;
        self.classes += run.tally.classes;
        self.lent += run.tally.lent;
        self.sections += run.tally.sections;
        self.put_off += run.tally.put_off;
        self.refused += run.tally.refused;
        self.locals += run.tally.locals;
        self.admitted += run.tally.admitted;
        self.lined_up += run.tally.lined_up;
        self.deepest = self.deepest.max(run.tally.deepest);
    }

    /// A simulation in which nothing happens finds nothing.
    fn is_varied(&self, kind: &str) -> bool {
        let Self { tasks, callbacks, hops, panics, aborts, .. } = *self;
        let of_kind = match kind {
            "crossings" | "tangles" => [self.put_off, self.refused, 1],
            "in order" => [self.put_off, 1, 1],
            _ => [self.classes, self.admitted, self.lined_up],
        };
        let of_all = [tasks, callbacks, hops, panics, aborts, self.locals, self.lent];
        of_all.iter().chain(&of_kind).all(|times| *times > 0) && self.deepest > 1
    }
}

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { seeds, events, turns, tasks, callbacks, hops, panics, aborts, .. } = self;
        let Self {
            classes,
            lent,
            sections,
            put_off,
            refused,
            locals,
            admitted,
            lined_up,
            deepest,
            ..
        } = self;
        write!(
            f,
            "{seeds:>4} seeds {events:>10} events {turns:>9} turns {tasks:>8} tasks {callbacks:>8} \
             callbacks {hops:>7} hops {panics:>6} panics {aborts:>6} cancelled \
             {sections:>6} sections, {put_off} put off {refused:>6} refused waits {locals:>6} values \
             {classes:>6} priorities {lent:>6} lent {admitted:>6} admitted, {lined_up} of them waited; {deepest} at once"
        )
    }
}

/// A seed is the same run again, in this process and, so, in the next: on other threads, after other runs, with
/// other addresses and serial numbers, and beside schedulers of other kinds.
#[test]
fn a_seed_is_replayed_exactly() {
    let plan = Plan { events: 20_000, ..plan() };
    let hashes = || {
        let mut hashes = BTreeMap::new();
        run_all(plan, 1..1 + replayed(), |run| {
            hashes.insert(run.seed, (run.hash, run.events));
        });
        hashes
    };
    let first = hashes();
    disturb();
    let second = hashes();
    assert_eq!(first, second);
    let different: std::collections::BTreeSet<_> = first.values().collect();
    assert_eq!(different.len(), first.len(), "different seeds are different runs");
}

/// The same seed is the same trace, record by record, and the same waits.
#[test]
fn a_seed_is_recorded_exactly() {
    let plan = Plan { events: 5_000, records: true, kind: None, ..plan() };
    let recorded = || {
        let mut recorded = BTreeMap::new();
        run_all(plan, 1..12, |run| {
            assert_eq!(run.violation, None);
            recorded.insert(run.seed, run.recorded);
        });
        recorded
    };
    let first = recorded();
    disturb();
    assert_eq!(recorded(), first);
    assert!(first.values().all(|recorded| recorded.digest.0 > 1_000), "{first:?}");
}

/// The two waits of all colors are the waits that the oracle has measured, from the act that scheduled a task or a
/// callback to its turn.
#[test]
fn the_two_waits_are_what_the_oracle_measures() {
    let plan = Plan { events: 20_000, records: true, kind: None, ..plan() };
    let (mut compared, mut all) = (0, [[0_u64; 2]; 2]);
    run_all(plan, 1..41, |run| {
        assert_eq!(run.violation, None);
        let (measured, said) = run.recorded.waits.expect("the end is quiet");
        let text = format!("seed {}, {}: measured {measured:?}, said {said:?}", run.seed, run.name);
        // The scheduler counts in units of 1,024 ns: each wait is rounded, up or down.
        let rounded = 4 * 1024 * measured.turns.isqrt();
        let close = |one: u64, other: u64| one.abs_diff(other) <= one / 100 + rounded;
        assert!(close(measured.color + measured.cpu, said.color + said.cpu), "the sum: {text}");
        assert!(close(measured.color, said.color) && close(measured.cpu, said.cpu), "{text}");
        println!("{text}");
        assert_eq!(measured.turns, said.turns, "{text}");
        for (sums, of) in all.iter_mut().zip([measured, said]) {
            (sums[0], sums[1]) = (sums[0] + of.color, sums[1] + of.cpu);
        }
        compared += 1;
    });
    let [measured, said] = all;
    let close = |of: usize| measured[of].abs_diff(said[of]) <= measured[of] / 1000;
    assert!(close(0) && close(1), "measured {measured:?}, said {said:?}");
    assert!(compared == 40 && measured.iter().all(|sum| *sum > 1_000_000_000), "{measured:?}");
}

/// The text that a failure prints is enough to repeat the failure.
#[test]
fn a_failure_says_how_to_run_it_again() {
    let plan =
        Plan { events: 12_345, lines: 0, fault: Fault::SwappedPosts, kind: None, records: false };
    let (mut failed, mut kinds) = (0, std::collections::BTreeSet::new());
    run_all(plan, 1..16, |run| {
        let Some(said) = again::report(&plan, &run) else { return };
        let variable = |name: &str| {
            let (_, value) = said.split_once(&format!("{name}="))?;
            let mut parts = value.split('\'');
            let plain = parts.next().filter(|plain| !plain.is_empty());
            let value = plain.map_or_else(|| parts.next(), |plain| plain.split(' ').next());
            value.map(str::to_owned)
        };
        assert_eq!(again::seeds(&variable), run.seed..run.seed + 1, "{said}");
        let asked = again::plan(&variable);
        assert_eq!((asked.events, asked.kind), (plan.events, Some(run.name)), "{said}");
        let once_more = thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(STACK);
            let asked = Plan { fault: plan.fault, ..asked };
            thread.spawn_scoped(scope, move || asked.run(run.seed)).expect("a thread").join()
        });
        let once_more = once_more.unwrap_or_else(|panic| resume_unwind(panic));
        assert_eq!((once_more.hash, once_more.events), (run.hash, run.events), "{said}");
        assert_eq!(once_more.violation, run.violation, "{said}");
        failed += 1;
        kinds.insert(run.name);
    });
    assert!(failed >= 4 && kinds.len() >= 3, "{failed} failed, of {kinds:?}");
}

/// The oracle finds every lie, and gives it the right name: a checker that cannot fail checks nothing.
#[test]
fn every_fault_is_found() {
    let faults: [(Fault, &[&str]); 14] = [
        (Fault::Unscheduled, &["G1", "G2", "G7"]),
        (Fault::SwappedPosts, &["G2"]),
        // G8: of the two `when`s, the task drops the running one.
        (Fault::SwappedWhens, &["G2", "G8"]),
        (Fault::ReaderBesideWriter, &["G1"]),
        (Fault::LostWake, &["G6", "G8", "G2", "progress"]),
        // G5: a worker that sleeps on has the last turn of a color, which would have no lane after it.
        (Fault::LostUnpark, &["G5", "G6", "G7", "progress"]),
        (Fault::EndlessSlice, &["G7"]),
        (Fault::LeakedLane, &["G5", "progress"]),
        (Fault::ForgottenFuture, &["G1", "G2", "G5", "G6", "G8", "progress"]),
        (Fault::DroppedTwice, &["G8"]),
        (Fault::WrongOutcome, &["G9"]),
        (Fault::WrongPriority, &["G7"]),
        (Fault::WrongDiagnosis, &["G12"]),
        (Fault::SectionAtOnce, &["G7"]),
    ];
    let least = if again::is_long() { 3 } else { 1 };
    for (fault, expected) in faults {
        let (kind, events, seeds) = match fault {
            // Most lanes with a wrong priority have their turns in time all the same.
            Fault::WrongPriority => (Some("classes"), 60_000, 90),
            Fault::WrongDiagnosis | Fault::SectionAtOnce => (Some("crossings"), 20_000, 30),
            _ => (None, 20_000, 30),
        };
        let plan = Plan { events, lines: 0, fault, kind, records: false };
        let (mut found, mut committed) = (0, 0);
        // The first six last: one of them takes twenty seconds until it is sure that a wake is lost.
        for first in (7..=seeds).step_by(6).chain([1]) {
            run_all(plan, first..first + 6, |run| {
                committed += u32::from(run.fault_done);
                if let Some(violation) = run.violation {
                    assert!(run.fault_done, "{violation} without a fault");
                    let named = expected.contains(&violation.guarantee);
                    assert!(named, "{fault:?} in seed {} is found as {violation}", run.seed);
                    found += 1;
                }
            });
            if found >= least && committed >= 5 && !again::is_long() {
                break;
            }
        }
        println!("{fault:?}: {found} of {committed}");
        assert!(committed >= 5, "{fault:?} is committed in {committed} seeds of {seeds}");
        // Some faults do no harm: an outcome that no task asks for, a park that ends by itself.
        assert!(found >= least, "{fault:?} is found {found} times of {committed}");
    }
}
