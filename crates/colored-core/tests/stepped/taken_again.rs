//! A color that is given up is free (G7): a task that takes it again, also in the same poll, stands behind
//! the work that was scheduled meanwhile. Each row is one way to take a color in a loop, in four tasks of one color.

use crate::doubles::NeverParks;
use crate::stopping::stop;
use colored_core::{
    Color, ColorCell, Options, Scheduler, SchedulerHandle, Step, Worker, exclusive, hop,
    spawn_here, spawn_local, when, yield_now,
};
use std::future::{Ready, pending, poll_fn, ready};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

const KEPT: Color = Color::new(7);
const AWAY: Color = Color::new(8);

/// How many tasks take the color again and again.
const TASKS: usize = 4;

/// A loop that never gives the color up would have no end. No other row gets so far.
const ENOUGH: u64 = 10_000;

/// The number of polls that all rows get. With fewer rounds than polls, no loop has many in one poll.
const STEPS: usize = 1_200;

/// What the loops use.
struct Scene {
    /// Of the color that the tasks have.
    cell: ColorCell<u64>,
    /// Of another color.
    away: ColorCell<u64>,
    /// Where a section is put that another color drops.
    taken: Mutex<Vec<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    rounds: [AtomicU64; TASKS],
    is_over: AtomicBool,
}

impl Scene {
    fn begin_round(&self, task: usize) -> bool {
        let rounds = self.rounds[task].fetch_add(1, Ordering::Relaxed);
        rounds < ENOUGH && !self.is_over.load(Ordering::Relaxed)
    }

    fn rounds(&self) -> [u64; TASKS] {
        [0, 1, 2, 3].map(|task: usize| self.rounds[task].load(Ordering::Relaxed))
    }
}

/// Runs four loops of `round`, one of them on worker 0 if `pinned`, and then a post from outside.
fn check<F>(name: &str, round: fn(Arc<Scene>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let options = Options { slice_polls: 1, ..Options::default() };
    let (handle, mut workers) = Scheduler::with_options(1, 1, Box::new(NeverParks), options);
    let scene = Arc::new(scene(&handle));
    for task in 0..TASKS {
        let scene = Arc::clone(&scene);
        drop(handle.spawn_colored(KEPT, async move {
            while scene.begin_round(task) {
                round(Arc::clone(&scene)).await;
            }
        }));
    }
    run(&mut workers[0], STEPS);
    let rounds = scene.rounds();
    let (most, sum) = (rounds.iter().max().unwrap(), rounds.iter().sum::<u64>());
    assert!(
        sum >= 100 && most * 8 <= sum * 3,
        "{name}: {rounds:?}, one has more than 1.5 times its share"
    );

    let before = scene.rounds();
    let seen = Arc::new(AtomicU64::new(0));
    let (at, now) = (Arc::clone(&seen), Arc::clone(&scene));
    scene.cell.post(move |_| at.store(now.rounds().iter().sum(), Ordering::Relaxed));
    run(&mut workers[0], 40);
    let (sum, seen) = (before.iter().sum::<u64>(), seen.load(Ordering::Relaxed));
    // 128 rounds that never wait fill a poll.
    let bound = sum + (TASKS as u64) * 130;
    assert!((sum..=bound).contains(&seen), "{name}: {sum} rounds before, {seen} at its turn");
    scene.is_over.store(true, Ordering::Relaxed);
    run(&mut workers[0], 40);
    scene.taken.lock().unwrap().clear();
    drop(scene);
    stop(&handle, &mut workers);
}

fn scene(handle: &SchedulerHandle) -> Scene {
    Scene {
        cell: ColorCell::new_in(handle, KEPT, 0),
        away: ColorCell::new_in(handle, AWAY, 0),
        taken: Mutex::default(),
        rounds: Default::default(),
        is_over: AtomicBool::new(false),
    }
}

fn run(worker: &mut Worker, steps: usize) {
    for _ in 0..steps {
        if worker.step() != Step::Ran {
            break;
        }
    }
}

/// Polls both until both are ready.
async fn both(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let mut done = [false; 2];
    poll_fn(|cx| {
        done[0] = done[0] || one.as_mut().poll(cx).is_ready();
        done[1] = done[1] || other.as_mut().poll(cx).is_ready();
        if done == [true; 2] { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// A waker of a combinator: passes the wake on.
struct Own(Mutex<Option<Waker>>);

impl Wake for Own {
    fn wake(self: Arc<Self>) {
        if let Some(waker) = self.0.lock().unwrap().take() {
            waker.wake();
        }
    }
}

/// Polls a branch with a waker of its own, and three times in a row, as combinators do whose branches were woken.
async fn eagerly(branch: impl Future<Output = ()>) {
    let mut branch = pin!(branch);
    poll_fn(|cx| {
        let own = Arc::new(Own(Mutex::new(Some(cx.waker().clone()))));
        let waker = Waker::from(own);
        let mut polls = (0..3).map(|_| branch.as_mut().poll(&mut Context::from_waker(&waker)));
        if polls.any(|polled| polled.is_ready()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Polls a future once, and drops it.
async fn once(future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let _begun = future.as_mut().poll(cx);
        Poll::Ready(())
    })
    .await;
}

fn nothing() -> Ready<()> {
    ready(())
}

/// Shows G7.
#[test]
fn sections() {
    check("a section that waits", |_| exclusive(yield_now()));
    check("a section that is over at once", |_| exclusive(nothing()));
    check("a section with a value", |scene| async move {
        scene.cell.exclusive(async |value| *value += 1).await;
        scene.cell.exclusive(async |_| yield_now().await).await;
    });
    check("a nested section", |_| {
        exclusive(async {
            exclusive(yield_now()).await;
            exclusive(nothing()).await;
        })
    });
    check("sections side by side", |_| both(exclusive(yield_now()), exclusive(nothing())));
    check("a section that is given up", |_| once(exclusive(pending())));
    check("a section that waits for a cell", |scene| async move {
        exclusive(scene.away.call(|value| *value += 1)).await;
    });
}

/// A combinator may poll its branch again in the same poll of the task.
/// Shows G7.
#[test]
fn sections_in_a_branch_with_a_waker_of_its_own() {
    check("over at once", |_| eagerly(exclusive(nothing())));
    check("waits", |_| {
        eagerly(exclusive(async {
            for _ in 0..4 {
                yield_now().await;
            }
        }))
    });
}

/// The section ends far from its task, which is then polled at the head of its line.
/// Shows G7.
#[test]
fn sections_that_are_dropped_elsewhere() {
    check("dropped elsewhere", |scene| async move {
        let mut section: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(exclusive(pending()));
        let (kept, mut waits) = (Arc::clone(&scene), false);
        poll_fn(move |cx| {
            if std::mem::replace(&mut waits, true) {
                return Poll::Ready(());
            }
            let mut own = std::mem::replace(&mut section, Box::pin(nothing()));
            if own.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            kept.taken.lock().unwrap().push(own);
            let kept = Arc::clone(&kept);
            scene.away.post(move |_| {
                let taken = std::mem::take(&mut *kept.taken.lock().unwrap());
                drop(taken);
            });
            Poll::Pending
        })
        .await;
    });
}

/// A branch that takes the color again and again lets the other branch of its task begin.
/// Shows G7.
#[test]
fn a_branch_does_not_starve_its_neighbour() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let (first, second) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (rounds, seen) = (Arc::clone(&first), Arc::clone(&second));
    drop(handle.spawn_colored(KEPT, async move {
        let greedy = async {
            while rounds.fetch_add(1, Ordering::Relaxed) < ENOUGH {
                exclusive(nothing()).await;
            }
        };
        let other = async {
            exclusive(nothing()).await;
            seen.store(rounds.load(Ordering::Relaxed), Ordering::Relaxed);
        };
        both(greedy, other).await;
    }));
    drop(handle.spawn_colored(KEPT, async {
        loop {
            yield_now().await;
        }
    }));
    run(&mut workers[0], 20);
    let (rounds, seen) = (first.load(Ordering::Relaxed), second.load(Ordering::Relaxed));
    assert!((1..=5).contains(&seen), "the other branch begins after {seen} rounds of {rounds}");
    stop(&handle, &mut workers);
}

/// What is alone under its color need not wait for a turn: the second section begins in the poll of the first.
/// Shows G7.
#[test]
fn a_color_without_other_work_is_taken_at_once() {
    let options = Options { slice_polls: 1, ..Options::default() };
    let (handle, mut workers) = Scheduler::with_options(1, 1, Box::new(NeverParks), options);
    let task = handle.spawn_colored(KEPT, async {
        for _ in 0..100 {
            exclusive(nothing()).await;
        }
    });
    assert_eq!(workers[0].step(), Step::Ran);
    assert!(task.is_finished());
    stop(&handle, &mut workers);
}

/// Shows G7.
#[test]
fn sections_of_tasks_that_stay_on_a_thread() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    let rounds = Arc::new([0; TASKS].map(AtomicU64::new));
    let counts = Arc::clone(&rounds);
    drop(handle.spawn_colored(KEPT, async move {
        for task in 0..TASKS {
            let counts = Arc::clone(&counts);
            let spawned = spawn_local(async move {
                while counts[task].fetch_add(1, Ordering::Relaxed) < ENOUGH {
                    exclusive(yield_now()).await;
                }
            });
            assert!(spawned.is_ok(), "a worker runs this");
        }
    }));
    run(&mut workers[0], 20);
    let rounds = [0, 1, 2, 3].map(|task: usize| rounds[task].load(Ordering::Relaxed));
    let (most, least) = (rounds.iter().max().unwrap(), rounds.iter().min().unwrap());
    assert!(*least >= 20 && most - least <= 1, "{rounds:?}");
    stop(&handle, &mut workers);
}

/// Shows G7.
#[test]
fn hops() {
    check("a hop there and back", |_| async {
        hop(AWAY).await;
        hop(KEPT).await;
    });
    check("a hop to the own color", |_| hop(KEPT));
    check("a section between hops", |_| async {
        exclusive(yield_now()).await;
        hop(AWAY).await;
        exclusive(nothing()).await;
        hop(KEPT).await;
        exclusive(nothing()).await;
    });
}

/// Shows G7.
#[test]
fn accesses_to_cells() {
    check("calls of the own color", |scene| async move {
        scene.cell.call(|value| *value += 1).await;
    });
    check("calls of another color", |scene| async move {
        scene.away.call(|value| *value += 1).await;
    });
    check("reads of the own color", |scene| async move {
        scene.cell.read(|_| ()).await;
    });
    check("reads of another color", |scene| async move {
        scene.away.read(|_| ()).await;
    });
    check("a `when` over the own color", |scene| async move {
        when((&scene.cell,), |value| *value += 1).await;
    });
    check("a `when` over another color", |scene| async move {
        when((&scene.away,), |value| *value += 1).await;
    });
    check("a `when` over both", |scene| async move {
        when((&scene.cell, &scene.away), |one, other| *one += *other).await;
    });
    check("a `when` that reads", |scene| async move {
        when((scene.cell.shared(), scene.away.shared()), |_, _| ()).await;
    });
    check("posts and a turn", |scene| async move {
        scene.cell.post(|value| *value += 1);
        yield_now().await;
    });
}

/// Runs a future as a task of the own color.
async fn here(future: impl Future<Output = ()> + Send + 'static) {
    let task = spawn_here(future).unwrap_or_else(|_| unreachable!("a task runs this"));
    task.await.unwrap();
}

/// Shows G7.
#[test]
fn tasks() {
    check("a task that is joined", |_| async {
        here(async {}).await;
    });
    check("a section in a task that is joined", |_| async {
        here(exclusive(yield_now())).await;
    });
    check("a turn", |_| yield_now());
}
