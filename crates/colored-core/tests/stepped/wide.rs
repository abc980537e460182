//! Rows of any length: a `when` works the same way, however many colors it wants.

use crate::doubles::NeverParks;
use colored_core::{Color, ColorCell, Scheduler, Step, Worker, shared, when};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Poll;

/// Numbers around the widths of masks and small counters.
const WIDTHS: &[usize] = if cfg!(miri) {
    &[65]
} else {
    &[1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 66, 127, 128, 129, 255, 256, 257, 1000, 65_537]
};

fn step_until_idle(worker: &mut Worker) {
    while worker.step() == Step::Ran {}
}

/// A task holds the color of one cell of the row, and another worker runs all lanes that it can, while a `when` over
/// the whole row waits in the lines.
fn one_is_held(width: usize, held: usize, is_shared: bool) {
    let (handle, mut workers) = Scheduler::with_workers(2, 7, Box::new(NeverParks));
    let color = |n: usize| Color::new(1 + n as u64);
    let cells: Vec<_> =
        (0..width).map(|n| ColorCell::new_in(&handle, color(n), n as u64)).collect();
    let inside = Arc::new(AtomicBool::new(true));
    let overlaps = Arc::new(AtomicUsize::new(0));
    let second = Arc::new(Mutex::new(workers.pop().expect("two workers")));
    let sum = Arc::new(Mutex::new(None));
    let (put, stepped, found) = (Arc::clone(&sum), Arc::clone(&second), Arc::clone(&overlaps));
    drop(handle.spawn_colored(color(held), async move {
        let is_inside = Arc::clone(&inside);
        cells[held].post(move |_| {
            found.fetch_add(usize::from(is_inside.load(SeqCst)), SeqCst);
        });
        let mut looks = pin!(when(shared(&cells), |all| all.iter().sum::<u64>()));
        let mut changes = pin!(when(&cells, |all| all.iter().sum::<u64>()));
        let total = poll_fn(|cx| {
            let was_inside = inside.load(SeqCst);
            let polled =
                if is_shared { looks.as_mut().poll(cx) } else { changes.as_mut().poll(cx) };
            assert_eq!(polled.is_pending(), was_inside, "it waits behind the post, and no longer");
            if was_inside {
                step_until_idle(&mut stepped.lock().unwrap());
                inside.store(false, SeqCst);
            }
            polled
        });
        *put.lock().unwrap() = Some(total.await);
    }));
    let step_all = |workers: &mut [Worker]| {
        for _ in 0..3 {
            step_until_idle(&mut workers[0]);
            step_until_idle(&mut second.lock().unwrap());
        }
    };
    step_all(&mut workers);
    assert_eq!(overlaps.load(SeqCst), 0, "two ran under one color of {width}");
    let expected = (0..width as u64).sum();
    assert_eq!(*sum.lock().unwrap(), Some(expected), "{width} cells");
    handle.scheduler().shut_down();
    step_all(&mut workers);
    assert_eq!(handle.scheduler().lanes(), 1, "the default color is the only one that is left");
}

#[test]
fn a_row_of_any_length_excludes_the_holders_of_its_colors() {
    for width in WIDTHS {
        for held in if cfg!(miri) { vec![64] } else { vec![0, width - 1] } {
            one_is_held(*width, held, true);
            if *width < 1000 && !cfg!(miri) {
                one_is_held(*width, held, false);
            }
        }
    }
}

/// A row names each color several times, and the `when` is in the line of each color once: a `when` that was twice in
/// one line would wait for itself.
#[test]
fn a_row_with_several_cells_of_each_color_has_each_color_once() {
    let (handle, mut workers) = Scheduler::with_workers(1, 7, Box::new(NeverParks));
    let worker = &mut workers[0];
    for width in [6, 8, 9, 30, 65] {
        let color = |n: usize| Color::new(1 + (n % 3) as u64);
        let cells: Vec<_> =
            (0..width).map(|n| ColorCell::new_in(&handle, color(n), n as u64)).collect();
        let sums = Arc::new(Mutex::new(Vec::new()));
        let put = Arc::clone(&sums);
        drop(handle.spawn_colored(Color::new(9), async move {
            for waits in [false, true] {
                let queue = || cells.iter().filter(|_| waits).for_each(|cell| cell.post(|_| ()));
                queue();
                let looks = when(shared(&cells), |all| all.iter().sum::<u64>()).await;
                queue();
                let changes = when(&cells, |all| all.iter().sum::<u64>()).await;
                put.lock().unwrap().extend([looks, changes]);
            }
        }));
        step_until_idle(worker);
        assert_eq!(*sums.lock().unwrap(), [(0..width as u64).sum::<u64>(); 4], "{width} cells");
    }
    handle.scheduler().shut_down();
    step_until_idle(worker);
}

/// A row without cells wants nothing, and its closure runs at once.
#[test]
fn a_row_of_none_runs_at_once() {
    let none: [ColorCell<usize>; 0] = [];
    let mut looks = pin!(when(shared(&none[..]), |all| all.len()));
    let mut changes = pin!(when(&none[..], |all| all.len()));
    let cx = &mut std::task::Context::from_waker(std::task::Waker::noop());
    assert_eq!(looks.as_mut().poll(cx), Poll::Ready(0));
    assert_eq!(changes.as_mut().poll(cx), Poll::Ready(0));
}
