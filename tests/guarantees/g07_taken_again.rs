//! G7 within a color: a color that is given up is free. Four tasks of one color take something again and again, in one
//! of many ways: they share it equally, and work from outside waits for no more than their turns.

use colored::stage::{self, Batch, Events, Stage};
use colored::time::{sleep, timeout};
use colored::{
    Color, ColorCell, JoinHandle, Limit, PinnedCell, Runtime, exclusive, hop, spawn_colored,
    spawn_here, when, yield_now,
};
use colored_tests::{join_all, runtime, shared, wait_until};
use std::future::pending;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const KEPT: Color = Color::new(7);
const AWAY: Color = Color::new(8);
const TASKS: u64 = 4;
/// A poll in which no operation waits has so many: `budget::PER_POLL` of the core, and one that gets no unit.
const IN_A_POLL: u64 = 129;

/// Rounds that fill four polls of each task.
const MANY: u64 = 4 * TASKS * IN_A_POLL;

type Round = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the tasks take.
struct Scene {
    /// Of the tasks' color, and of another one.
    own: ColorCell<u64>,
    hot: ColorCell<u64>,
    second: ColorCell<u64>,
    limit: Limit,
    pinned: PinnedCell<u64>,
    stage: Stage<u64>,
    batches: Stage<u64>,
    /// Under a lock, so that all are read at one moment.
    rounds: Mutex<[u64; TASKS as usize]>,
    is_over: AtomicBool,
}

impl Scene {
    fn new(runtime: &Runtime) -> Self {
        let _entered = runtime.handle().enter();
        let serial = stage::Builder::new().color(KEPT).capacity(2);
        let batches = stage::Builder::new().color(AWAY).capacity(2);
        let handle = async |events: Events<u64>| {
            exclusive(yield_now()).await;
            drop(events);
        };
        Self {
            own: ColorCell::new(KEPT, 0),
            hot: ColorCell::new(AWAY, 0),
            second: ColorCell::new(Color::new(9), 0),
            limit: Limit::new(AWAY, 1),
            pinned: PinnedCell::on_worker(0, KEPT, || 0).expect("there is a worker 0"),
            stage: serial.batch(Batch::Fixed(1)).build(stage::each(|_| ())),
            batches: batches.batch(Batch::Adaptive { max: 8 }).build(handle),
            rounds: Default::default(),
            is_over: AtomicBool::new(false),
        }
    }

    fn rounds(&self) -> [u64; TASKS as usize] {
        *self.rounds.lock().unwrap()
    }

    fn sum(&self) -> u64 {
        self.rounds().iter().sum()
    }
}

/// One way to take something again and again.
struct Row {
    name: &'static str,
    round: fn(Arc<Scene>) -> Round,
    /// How many rounds a task has in one turn, at most.
    in_a_turn: u64,
    /// How many rounds they have before their shares are compared.
    enough: u64,
    /// The cell to which something is posted from outside.
    of: fn(&Scene) -> &ColorCell<u64>,
}

/// Four tasks under these colors, which go on until it is over. All are in line, or run, when this returns.
fn begin(runtime: &Runtime, row: &Row, color: fn(usize) -> Color) -> Running {
    let scene = Arc::new(Scene::new(runtime));
    let spawn = |task: usize| {
        let (scene, round) = (Arc::clone(&scene), row.round);
        runtime.handle().spawn_colored(color(task), async move {
            while !scene.is_over.load(Ordering::SeqCst) {
                round(Arc::clone(&scene)).await;
                scene.rounds.lock().unwrap()[task] += 1;
            }
        })
    };
    let tasks = [0, 1, 2, 3].map(spawn);
    Running { scene, tasks }
}

struct Running {
    scene: Arc<Scene>,
    tasks: [JoinHandle<()>; TASKS as usize],
}

impl Running {
    /// Waits for so many rounds, and returns those of each task.
    fn wait_for(&self, rounds: u64) -> [u64; TASKS as usize] {
        // The first task may have been alone for a while.
        let before = self.scene.rounds();
        wait_until(|| self.scene.sum() >= before.iter().sum::<u64>() + rounds);
        let now = self.scene.rounds();
        [0, 1, 2, 3].map(|task: usize| now[task] - before[task])
    }

    /// How many rounds come before something that is posted from outside.
    fn before_a_post(&self, row: &Row) -> u64 {
        let at = Arc::new(AtomicU64::new(u64::MAX));
        let (seen, then) = (Arc::clone(&at), Arc::clone(&self.scene));
        (row.of)(&self.scene).post(move |_| seen.store(then.sum(), Ordering::SeqCst));
        // It is scheduled by now, whatever the machine does with this thread.
        let scheduled = self.scene.sum();
        wait_until(|| at.load(Ordering::SeqCst) != u64::MAX);
        at.load(Ordering::SeqCst).saturating_sub(scheduled)
    }

    fn end(self, runtime: &Runtime) {
        self.scene.is_over.store(true, Ordering::SeqCst);
        for task in self.tasks {
            runtime.block_on(task).unwrap();
        }
    }
}

/// Four tasks of one color share it, and something from outside has its turn.
fn check(row: &Row) {
    let runtime = runtime(2);
    let running = begin(&runtime, row, |_| KEPT);
    let rounds = running.wait_for(row.enough);
    let (most, sum) = (rounds.iter().max().unwrap(), rounds.iter().sum::<u64>());
    assert!(2 * most * TASKS <= 3 * sum, "{}: {rounds:?}, one has 1.5 times its share", row.name);
    let (late, bound) = (running.before_a_post(row), (TASKS + 1) * row.in_a_turn);
    assert!(late <= bound, "{}: {late} rounds came before it, and {bound} may", row.name);
    running.end(&runtime);
}

const MOMENT: Duration = Duration::from_micros(200);

/// Rounds that wait, so that a turn has one of them.
const WAITS: &[Row] = &[
    waits("a section", |_| Box::pin(exclusive(sleep(MOMENT)))),
    waits("a section with a value", |scene| {
        Box::pin(async move { scene.own.exclusive(async |_| sleep(MOMENT).await).await })
    }),
    waits("a nested section", |_| {
        Box::pin(exclusive(async {
            exclusive(sleep(MOMENT)).await;
            exclusive(yield_now()).await;
        }))
    }),
    waits("a section that a timeout ends", |_| {
        Box::pin(async {
            assert!(timeout(MOMENT, exclusive(pending::<()>())).await.is_err());
        })
    }),
    waits("turns in a section", |_| {
        Box::pin(exclusive(async {
            for _ in 0..10 {
                yield_now().await;
            }
        }))
    }),
    waits("a section that waits for a cell", |scene| {
        Box::pin(async move { exclusive(scene.hot.call(|n| *n += 1)).await })
    }),
    waits("a hop there and back", |_| {
        Box::pin(async {
            hop(AWAY).await;
            hop(KEPT).await;
        })
    }),
    waits("a permit", |scene| {
        Box::pin(async move {
            let _permit = scene.limit.reserve().await.unwrap();
            sleep(MOMENT).await;
        })
    }),
    waits("a task that is joined", |_| {
        Box::pin(async { spawn_here(exclusive(yield_now())).await.unwrap() })
    }),
    waits("a task of another color that is joined", |_| {
        Box::pin(async { spawn_colored(AWAY, exclusive(yield_now())).await.unwrap() })
    }),
    waits("a call of a pinned cell", |scene| {
        Box::pin(async move { scene.pinned.call(|n| *n += 1).await })
    }),
    waits("an event of a stage", |scene| {
        Box::pin(async move { scene.stage.send(1).await.unwrap() })
    }),
    waits("an event of a stage with batches", |scene| {
        Box::pin(async move { scene.batches.send(1).await.unwrap() })
    }),
];

const fn waits(name: &'static str, round: fn(Arc<Scene>) -> Round) -> Row {
    Row { name, round, in_a_turn: 2, enough: 60, of: |scene| &scene.own }
}

/// Rounds that may be over at once.
const AT_ONCE: &[Row] = &[
    at_once("a section that is over at once", |_| Box::pin(exclusive(async {}))),
    at_once("a hop to the own color", |_| Box::pin(hop(KEPT))),
    at_once("a call of the own color", |scene| {
        Box::pin(async move { scene.own.call(|n| *n += 1).await })
    }),
    at_once("a read of the own color", |scene| {
        Box::pin(async move { assert!(scene.own.read(|n| *n).await == 0) })
    }),
    at_once("a post to the own color, and a turn", |scene| {
        Box::pin(async move {
            scene.own.post(|n| *n += 1);
            yield_now().await;
        })
    }),
];

/// Rounds that take a cell of another color.
const HOT: &[Row] = &[
    hot("a call of a hot cell", |scene| Box::pin(async move { scene.hot.call(|n| *n += 1).await })),
    hot("a read beside a writer", |scene| {
        Box::pin(async move { assert!(scene.hot.read(|n| *n).await == 0) })
    }),
    hot("a `when` over a hot cell", |scene| {
        Box::pin(async move { when((&scene.hot,), |n| *n += 1).await })
    }),
    hot("a `when` over two", |scene| {
        Box::pin(async move { when((&scene.hot, &scene.second), |n, m| *n += *m).await })
    }),
    hot("a call behind a limit", |scene| {
        Box::pin(async move {
            let _permit = scene.limit.reserve().await.unwrap();
            scene.hot.call(|n| *n += 1).await;
        })
    }),
];

const fn at_once(name: &'static str, round: fn(Arc<Scene>) -> Round) -> Row {
    Row { name, round, in_a_turn: IN_A_POLL, enough: MANY, of: |scene| &scene.own }
}

const fn hot(name: &'static str, round: fn(Arc<Scene>) -> Round) -> Row {
    Row { name, round, in_a_turn: IN_A_POLL, enough: MANY, of: |scene| &scene.hot }
}

/// Shows G7.
#[test]
fn nobody_takes_a_color_again_before_what_is_scheduled() {
    shared(|| WAITS.iter().chain(AT_ONCE).chain(HOT).for_each(check));
}

/// The four tasks run in parallel, and find the cell idle, or open for readers, again and again.
/// Shows G7.
#[test]
fn nobody_takes_a_hot_cell_again_before_what_is_scheduled() {
    shared(|| {
        for row in HOT {
            let runtime = runtime(2);
            let running = begin(&runtime, row, |task| Color::new(20 + task as u64));
            for _ in 0..10 {
                let _rounds = running.wait_for(1);
                let late = running.before_a_post(row);
                // Each task is in the cell, or has a place before the post, and may have counted no round for it yet.
                assert!(late <= 2 * TASKS, "{}: {late} rounds came before it", row.name);
            }
            running.end(&runtime);
        }
    });
}

/// The main future of a thread inside `block_on` is a task of the default color, which only that thread may poll.
/// Shows G7.
#[test]
fn sections_beside_the_loop_of_a_guest() {
    shared(|| {
        let runtime = runtime(2);
        let counts = Arc::new(Mutex::new([0_u64; 3]));
        let is_over = Arc::new(AtomicBool::new(false));
        let tasks: Vec<_> = (0..3)
            .map(|task| {
                let (counts, is_over) = (Arc::clone(&counts), Arc::clone(&is_over));
                runtime.handle().spawn(async move {
                    while !is_over.load(Ordering::SeqCst) {
                        exclusive(sleep(MOMENT)).await;
                        counts.lock().unwrap()[task] += 1;
                    }
                })
            })
            .collect();
        let rounds = runtime.block_on(async {
            // From here on all four are in line, or have a section.
            exclusive(sleep(MOMENT)).await;
            let before = *counts.lock().unwrap();
            for _ in 0..20 {
                exclusive(sleep(MOMENT)).await;
            }
            let after = *counts.lock().unwrap();
            after.iter().zip(before).map(|(after, before)| after - before).collect::<Vec<_>>()
        });
        is_over.store(true, Ordering::SeqCst);
        runtime.block_on(join_all(tasks));
        assert!(rounds.iter().all(|of| (18..=22).contains(of)), "{rounds:?} beside 20");
    });
}
