//! G7: a turn is bounded, so an endless task starves no task, no socket and no timer.

use colored::time::{Duration, Instant, interval, sleep};
use colored::{Color, ColorCell, Runtime, hop, spawn_colored, spawn_unique, yield_now};
use colored_tests::attempts::{percentile, within};
use colored_tests::{Trace, alone, block, echo, join_all, run, runtime};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Polls in a slice: `SLICE_POLLS` of the scheduler.
const SLICE: usize = 64;

/// Posts in a slice: `CLOSURE_WEIGHT` of the core.
const POSTS: usize = 64 * SLICE;

/// The longest stretch of one color in the trace, while the other has not ended.
fn longest_turn(trace: &[u64]) -> usize {
    let last = *trace.last().expect("there are events");
    // The time of the last task alone delays no other task.
    let end = trace.iter().rposition(|color| *color != last).map_or(0, |at| at + 1);
    trace[..end].chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap_or(0)
}

async fn walk(trace: Trace<u64>, color: u64, steps: usize, pause: Duration) {
    for _ in 0..steps {
        trace.push(color);
        if !pause.is_zero() {
            block(pause);
        }
        yield_now().await;
    }
}

fn two_walkers(steps: usize, pause: Duration) -> Vec<u64> {
    let trace = Trace::new();
    let ours = trace.clone();
    run(1, async move {
        let walkers =
            [1, 2].map(|color| spawn_colored(color, walk(ours.clone(), color, steps, pause)));
        join_all(walkers).await;
    });
    trace.take()
}

/// Shows G7.
#[test]
fn a_turn_has_so_many_polls() {
    let trace = two_walkers(5_000, Duration::ZERO);
    let longest = longest_turn(&trace);
    assert!((2..=SLICE).contains(&longest), "a turn of {longest} polls");
}

/// Shows G7.
#[test]
fn a_turn_of_slow_polls_has_few() {
    let trace = two_walkers(50, Duration::from_millis(1));
    // The clock is read every eighth poll until one is found to be slow.
    let longest = longest_turn(&trace);
    assert!(longest <= 9, "a turn of {longest} polls of a millisecond");
}

/// A task posts to two cells of other colors. Returns the colors of the posts in the order in which they ran.
fn two_cells(posts: usize, pause: Duration) -> Vec<u64> {
    let trace = Trace::new();
    let ours = trace.clone();
    run(1, async move {
        let cells = [1, 2].map(|color| ColorCell::new(Color::new(color), color));
        for cell in &cells {
            for _ in 0..posts {
                let trace = ours.clone();
                cell.post(move |color| {
                    trace.push(*color);
                    block(pause);
                });
            }
        }
        for cell in &cells {
            cell.call(|_| ()).await;
        }
    });
    trace.take()
}

/// A post takes less time than the poll of a task that posts, so a queue of posts that had the polls of a task would grow for
/// as long as two such tasks run.
/// Shows G7.
#[test]
fn a_turn_of_posts_has_more_than_one_of_polls() {
    let trace = two_cells(20_000, Duration::ZERO);
    let longest = longest_turn(&trace);
    assert!((SLICE + 1..=POSTS).contains(&longest), "a turn of {longest} posts");
}

/// Shows G7.
#[test]
fn a_turn_of_slow_posts_has_few() {
    let trace = two_cells(50, Duration::from_millis(1));
    let longest = longest_turn(&trace);
    assert!(longest <= 9, "a turn of {longest} posts of a millisecond");
}

/// Runs endless tasks until a neighbour on the only worker has had a thousand turns. Returns how
/// often an endless one was polled between two of them, at most.
fn neighbour_of<F: Future<Output = ()> + Send + 'static>(
    endless: impl Fn(Arc<AtomicU64>, Arc<AtomicBool>) -> Vec<F> + Send + 'static,
) -> u64 {
    run(1, async move {
        let (polls, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let others: Vec<_> = endless(Arc::clone(&polls), Arc::clone(&over))
            .into_iter()
            .map(|task| spawn_unique(task))
            .collect();
        let seen = Arc::clone(&polls);
        let neighbour = spawn_unique(async move {
            let (mut longest, mut before) = (0, seen.load(Ordering::Relaxed));
            for _ in 0..1_000 {
                yield_now().await;
                let now = seen.load(Ordering::Relaxed);
                longest = longest.max(now - before);
                before = now;
            }
            longest
        });
        let longest = neighbour.await.unwrap();
        over.store(true, Ordering::Relaxed);
        join_all(others).await;
        longest
    })
}

/// Shows G7.
#[test]
fn an_endless_chain_of_hops_lets_others_run() {
    let longest = neighbour_of(|polls, over| {
        vec![async move {
            let mut color = 0;
            while !over.load(Ordering::Relaxed) {
                polls.fetch_add(1, Ordering::Relaxed);
                color = (color + 1) % 5;
                hop(Color::new(100 + color)).await;
            }
        }]
    });
    assert!(longest <= 2 * SLICE as u64, "{longest} hops in a row");
}

/// A hop to the task's own color ends no poll by itself.
/// Shows G7.
#[test]
fn a_long_chain_of_hops_that_go_nowhere_lets_others_run() {
    let longest = neighbour_of(|polls, over| {
        vec![async move {
            let own = Color::current().expect("a task has a color");
            for _ in 0..100_000 {
                if over.load(Ordering::Relaxed) {
                    break;
                }
                polls.fetch_add(1, Ordering::Relaxed);
                hop(own).await;
            }
        }]
    });
    assert!(longest <= 129 * SLICE as u64, "{longest} hops in a row");
}

/// Shows G7.
#[test]
fn an_endless_self_wake_lets_others_run() {
    let longest = neighbour_of(|polls, over| {
        vec![std::future::poll_fn(move |cx| {
            polls.fetch_add(1, Ordering::Relaxed);
            cx.waker().wake_by_ref();
            match over.load(Ordering::Relaxed) {
                true => std::task::Poll::Ready(()),
                false => std::task::Poll::Pending,
            }
        })]
    });
    assert!(longest <= SLICE as u64, "{longest} polls in a row");
}

/// tokio#5712: two tasks that wake each other through the `next` slot.
/// Shows G7.
#[test]
fn an_endless_ping_pong_lets_others_run() {
    let longest = neighbour_of(|polls, over| {
        let bells = [(); 2].map(|()| Arc::new(colored::sync::Notify::new()));
        bells[0].notify_one();
        let player = |mine: usize| {
            let (mine, other) = (Arc::clone(&bells[mine]), Arc::clone(&bells[1 - mine]));
            let (polls, over) = (Arc::clone(&polls), Arc::clone(&over));
            async move {
                while !over.load(Ordering::Relaxed) {
                    mine.notified().await;
                    polls.fetch_add(1, Ordering::Relaxed);
                    other.notify_one();
                }
                other.notify_one();
            }
        };
        vec![player(0), player(1)]
    });
    assert!(longest <= 2 * SLICE as u64, "{longest} turns in a row");
}

/// Shows G7.
#[test]
fn an_endless_chain_of_spawns_lets_others_run() {
    fn next(polls: Arc<AtomicU64>, over: Arc<AtomicBool>) {
        if !over.load(Ordering::Relaxed) {
            polls.fetch_add(1, Ordering::Relaxed);
            drop(spawn_unique(async move { next(polls, over) }));
        }
    }
    let longest = neighbour_of(|polls, over| vec![async move { next(polls, over) }]);
    assert!(longest <= 2 * SLICE as u64, "{longest} tasks in a row");
}

/// Shows G7.
#[test]
fn an_endless_chain_of_posts_lets_others_run() {
    fn next(cell: Arc<ColorCell<()>>, posts: Arc<AtomicU64>, over: Arc<AtomicBool>) {
        let again = Arc::clone(&cell);
        cell.post(move |()| {
            posts.fetch_add(1, Ordering::Relaxed);
            if !over.load(Ordering::Relaxed) {
                next(again, posts, over);
            }
        });
    }
    let longest = neighbour_of(|posts, over| {
        vec![async move { next(Arc::new(ColorCell::new(Color::unique(), ())), posts, over) }]
    });
    assert!(longest <= POSTS as u64, "{longest} posts in a row");
}

/// Starts all kinds of endless tasks at once.
fn saturate(runtime: &Runtime) {
    let handle = runtime.handle();
    drop(handle.spawn_unique(async {
        for color in (1..=7).cycle() {
            hop(Color::new(color)).await;
        }
    }));
    drop(handle.spawn_unique(std::future::poll_fn(|cx| {
        cx.waker().wake_by_ref();
        std::task::Poll::<()>::Pending
    })));
    for _ in 0..100 {
        drop(handle.spawn_colored(8, async {
            loop {
                yield_now().await;
            }
        }));
    }
}

/// Shows G7.
#[test]
fn a_ticker_and_a_socket_live_beside_everything_endless() {
    alone(|| {
        let (server, clients) = (runtime(2), runtime(1));
        let address = echo::serve(server.handle());
        saturate(&server);
        within(Duration::from_millis(15), || {
            let ticker = server.handle().spawn_unique(async {
                let mut ticker = interval(Duration::from_millis(10));
                let mut late = Vec::new();
                for _ in 0..50 {
                    let due = ticker.tick().await;
                    late.push(Instant::now().saturating_duration_since(due));
                }
                late
            });
            let streams = echo::connect(&clients, address, 4);
            let echoes = clients.run(echo::measure(streams, 50));
            let late = server.run(ticker).unwrap();
            percentile(late, 95).max(percentile(echoes, 95))
        });
    });
}

/// nearcore#2983: timers run while a color is saturated, also this color's timers.
/// Shows G7.
#[test]
fn a_timer_fires_under_a_saturated_color() {
    alone(|| {
        let runtime = runtime(1);
        saturate(&runtime);
        within(Duration::from_millis(30), || {
            let timer = runtime.handle().spawn_colored(8, async {
                let begin = Instant::now();
                sleep(Duration::from_millis(10)).await;
                begin.elapsed()
            });
            runtime.run(timer).unwrap()
        });
    });
}
