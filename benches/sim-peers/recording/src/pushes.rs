//! Programs of pushes from several colors to several others.

use colored::sync::mpsc;
use colored::{ColorCell, spawn_colored, yield_now};

/// The colors that push, and as many that are pushed to.
const COLORS: u64 = 8;

const POSTS_OF_EACH: u64 = 40_000;
pub(crate) const POSTS: u64 = COLORS * POSTS_OF_EACH;

const ROUNDS_OF_EACH: u64 = 10_000;
/// The message, and the answer.
pub(crate) const MESSAGES: u64 = COLORS * ROUNDS_OF_EACH * 2;

const CALLS_OF_EACH: u64 = 10_000;
pub(crate) const CALLS: u64 = COLORS * CALLS_OF_EACH;

/// Makes a cell for each color behind the colors of the tasks.
fn cells() -> Vec<ColorCell<u64>> {
    (0..COLORS).map(|color| ColorCell::new(COLORS + color, 0)).collect()
}

/// Runs a task of each color.
async fn run<F: Future<Output = ()> + Send + 'static>(task: impl FnMut(u64) -> F) {
    let tasks: Vec<_> = (0..COLORS)
        .map(task)
        .enumerate()
        .map(|(color, task)| spawn_colored(color as u64, task))
        .collect();
    for task in tasks {
        task.await.expect("it ends");
    }
}

/// Which cell is next.
fn next(of: &mut u64) -> usize {
    *of = of.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    (*of >> 33) as usize % COLORS as usize
}

/// Each color posts to one cell or another. Now and then it waits for its turn.
pub(crate) async fn posts() {
    let cells = cells();
    run(|color| {
        let cells = cells.clone();
        let mut random = color;
        async move {
            for number in 0..POSTS_OF_EACH {
                cells[next(&mut random)].post(|count| *count += 1);
                if number % 64 == 0 {
                    yield_now().await;
                }
            }
        }
    })
    .await;
    let mut all = 0;
    for cell in &cells {
        all += cell.call(|count| *count).await;
    }
    assert_eq!(all, POSTS);
}

/// Each color has a partner, and both answer each other.
pub(crate) async fn messages() {
    run(|color| async move {
        let (ping, mut pinged) = mpsc::unbounded_channel();
        let (pong, mut ponged) = mpsc::unbounded_channel();
        let partner = spawn_colored(COLORS + color, async move {
            while pinged.recv().await.is_some() {
                let _ = pong.send(());
            }
        });
        for _ in 0..ROUNDS_OF_EACH {
            ping.send(()).expect("it receives");
            ponged.recv().await.expect("an answer");
        }
        drop(ping);
        partner.await.expect("it ends");
    })
    .await;
}

/// Each color calls one cell or another.
pub(crate) async fn calls() {
    let cells = cells();
    run(|color| {
        let cells = cells.clone();
        let mut random = color;
        async move {
            for _ in 0..CALLS_OF_EACH {
                cells[next(&mut random)].call(|count| *count += 1).await;
            }
        }
    })
    .await;
}
