//! One program, from its seed to its end.

use crate::act;
use crate::chest;
use crate::generate;
use crate::here;
use crate::plan::{Find, Foreigner};
use crate::shell::{Beds, Port};
use crate::step;
use crate::value::Value;
use crate::world::{Hands, Hue, World};
use colored_core::{Color, ColorCell, Scheduler, SchedulerHandle, Worker, look_for_deadlocks};
use colored_limit::Limit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Runs the program of a seed.
///
/// # Errors
///
/// The faults of the run, and the program's text.
pub(crate) fn program(seed: u64) -> Result<(), String> {
    let plan = generate::plan(seed);
    let (handles, workers): (Vec<_>, Vec<_>) = plan
        .runtimes
        .iter()
        .enumerate()
        .map(|(i, runtime)| {
            let beds = Beds::new(runtime.workers);
            let port = Box::new(Port(Arc::clone(&beds)));
            let (handle, workers) =
                Scheduler::with_options(runtime.workers, seed + i as u64, port, runtime.options);
            if runtime.is_watched {
                handle.scheduler().expect_sections();
            }
            (handle, (beds, workers))
        })
        .unzip();
    let (mut seats, mut threads) = (Vec::new(), Vec::new());
    for ((beds, mut workers), runtime) in workers.into_iter().zip(&plan.runtimes) {
        let roaming = workers.split_off(workers.len() - runtime.roaming);
        seats.extend(roaming);
        threads.extend(workers.into_iter().map(|worker| (Arc::clone(&beds), worker)));
    }
    let world = World::new(plan, seats);
    let program = Program { seed, world: Arc::clone(&world) };
    here::be_main();
    let _here = here::belong(&world);
    program.run(handles, threads);
    drop(program);
    drop(_here);
    let failures = world.finish();
    if failures.is_empty() {
        return Ok(());
    }
    Err(format!("{}\n{}", text(seed), failures.join("\n")))
}

/// The program of a seed, for a reader.
pub(crate) fn text(seed: u64) -> String {
    format!("{:#?}", generate::plan(seed))
}

struct Program {
    seed: u64,
    world: Arc<World>,
}

impl Program {
    fn run(&self, handles: Vec<SchedulerHandle>, workers: Vec<(Arc<Beds>, Worker)>) {
        let world = &self.world;
        let mut hands = self.hands(&handles);
        let mut threads = Vec::new();
        for (index, (beds, mut worker)) in workers.into_iter().enumerate() {
            threads.push(self.thread(format!("worker {index}"), move || {
                beds.run(&mut worker);
            }));
        }
        for index in 0..world.plan.foreigners.len() {
            let mut hands = hands.give(u32::MAX);
            let world = Arc::clone(world);
            threads.push(self.thread(format!("foreign {index}"), move || {
                outside(&mut hands, &world.plan.foreigners[index]);
                contained(|| drop(hands));
            }));
        }
        let is_over = Arc::new(AtomicBool::new(false));
        let keeper = {
            let (world, is_over) = (Arc::clone(world), Arc::clone(&is_over));
            let handles = handles.clone();
            self.thread("keeper".into(), move || keep(&world, handles, &is_over))
        };
        outside_acts(&mut hands, &world.plan.main);
        self.wait();
        shut_down(&handles);
        while !threads.iter().all(JoinHandle::is_finished) || !world.have_left() {
            pause();
        }
        is_over.store(true, Ordering::Relaxed);
        threads.push(keeper);
        let mut last = hands.give(u32::MAX);
        drop(hands);
        outside_acts(&mut last, &world.plan.epilogue);
        for thread in threads {
            if thread.join().is_err() {
                world.fail("a thread has panicked".into());
            }
        }
        contained(|| drop(last));
        drop(handles);
        // A thing that is left over may be the last of its kind, and its destructor may leave more.
        contained(here::empty_stash);
        while let Some(thing) = world.find() {
            contained(|| chest::found(world, thing, Find::Drop, None));
            contained(here::empty_stash);
        }
    }

    /// The things that every part of the program has at first.
    fn hands(&self, handles: &[SchedulerHandle]) -> Hands {
        let world = &self.world;
        let mut hands = Hands {
            world: Arc::clone(world),
            handles: handles.iter().cloned().map(Some).collect(),
            cells: vec![None; world.plan.cells.len()],
            row: None,
            limits: vec![None; world.plan.limits.len()],
            who: here::next_number(),
            count: 0,
        };
        for (index, (at, destructor)) in world.plan.cells.iter().enumerate() {
            let value = Value::new(&hands, world.hue(at.runtime, at.tint), destructor.as_ref());
            let cell = ColorCell::new_in(&handles[at.runtime], world.colors[at.tint], value);
            hands.cells[index] = Some(cell);
        }
        for (index, (at, capacity)) in world.plan.limits.iter().enumerate() {
            let value = Value::new(&hands, world.hue(at.runtime, at.tint), None);
            let limit = Limit::new_in(&handles[at.runtime], world.colors[at.tint], *capacity);
            hands.limits[index] = Some(limit.cell(value));
        }
        hands.row = world.plan.row.map(|(count, is_split)| {
            let cell = |index| {
                let color = Color::unique();
                let runtime = if is_split && index % 2 == 1 { handles.len() - 1 } else { 0 };
                let hue = Hue { runtime, color: Some(color), witness: Arc::default() };
                ColorCell::new_in(&handles[runtime], color, Value::new(&hands, hue, None))
            };
            Arc::new((0..count).map(cell).collect())
        });
        hands
    }

    fn thread(&self, name: String, f: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
        let world = Arc::clone(&self.world);
        let run = move || {
            let _here = here::belong(&world);
            f();
        };
        thread::Builder::new()
            .name(format!("{} {name}", self.seed))
            .spawn(run)
            .expect("there is room for a thread")
    }

    /// Waits until the runtimes are to end.
    fn wait(&self) {
        let plan = &self.world.plan;
        let mut patience = plan.patience;
        // Ordering: see `Token::open`.
        while patience > 0 || plan.is_quiet && self.world.open.load(Ordering::Relaxed) != 0 {
            patience = patience.saturating_sub(1);
            pause();
        }
    }
}

/// Steps the workers that have no thread, looks for deadlocks, and uses the things in the chest, so that tasks that
/// wait for these things go on. Ends a program that is not quiet, for its main thread may wait in `block_on` for an
/// event that never comes. Nothing that blocks may run here.
fn keep(world: &Arc<World>, handles: Vec<SchedulerHandle>, is_over: &AtomicBool) {
    let mut patience = (!world.plan.is_quiet).then_some(world.plan.patience);
    let mut handles = Some(handles);
    let run = || {
        while !is_over.load(Ordering::Relaxed) {
            if patience == Some(0) {
                shut_down(&handles.take().unwrap_or_default());
            }
            patience = patience.and_then(|patience| patience.checked_sub(1));
            (0..world.seats.len()).for_each(|seat| step::seat(world, seat, 8));
            for handle in handles.iter().flatten() {
                look_for_deadlocks(handle.scheduler(), 0);
            }
            match world.find() {
                Some(thing) => contained(|| chest::found(world, thing, Find::Use, None)),
                None => pause(),
            }
        }
    };
    here::keep(|| here::roam(run));
}

fn shut_down(handles: &[SchedulerHandle]) {
    for handle in handles {
        handle.scheduler().shut_down();
    }
}

fn pause() {
    if cfg!(miri) {
        thread::yield_now();
    } else {
        thread::sleep(Duration::from_micros(20));
    }
}

fn outside(hands: &mut Hands, foreigner: &Foreigner) {
    if foreigner.is_early {
        here::begin_stash();
    }
    let entered = foreigner.enters.and_then(|runtime| hands.handle(runtime));
    let entered = entered.as_ref().map(SchedulerHandle::enter);
    outside_acts(hands, &foreigner.acts);
    drop(entered);
}

/// Does each act by itself: a panic ends the act, and not the thread.
fn outside_acts(hands: &mut Hands, acts: &crate::plan::Acts) {
    for act in acts.list.iter() {
        contained(|| act::one(hands, act, None));
    }
}

/// Contains a panic. The panic hook has reported it, unless the program planned it.
fn contained(f: impl FnOnce()) {
    let _planned = catch_unwind(AssertUnwindSafe(f));
}
