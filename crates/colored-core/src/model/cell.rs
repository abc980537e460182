//! The end of a cell: posts reach the value without a reference.

use super::doubles::{Port, lane};
use super::{check, check_within};
use crate::cell::ColorCell;
use crate::lane::LaneRef;
use crate::sync::Arc;
use loom::thread;

/// A cell whose value is a count, and something that loom misses if it is not dropped.
fn cell(lane: LaneRef) -> ColorCell<(usize, Arc<()>)> {
    ColorCell::on_lane(lane, (0, Arc::new(())))
}

/// Two posters give their clones back while the lane is run: the value outlives both posts.
#[test]
fn posts_against_the_end() {
    check_within(2, || {
        let port = Port::new();
        let cell = cell(lane(&port));
        let other = cell.clone();
        let runner = Arc::clone(&port);
        let poster = thread::spawn(move || {
            let witness = Arc::new(());
            other.post(move |value| {
                value.0 += 1;
                drop(witness);
            });
            drop(other);
            runner.run_all();
        });
        cell.post(|value| value.0 += 1);
        drop(cell);
        port.run_all();
        poster.join().unwrap();
        port.run_all();
    });
}

/// A turn drops the last clone while it is inside the value: the end waits for its turn.
#[test]
fn the_end_inside_a_post() {
    check(|| {
        let port = Port::new();
        let cell = cell(lane(&port));
        let inner = cell.clone();
        let runner = Arc::clone(&port);
        let thread = thread::spawn(move || runner.run_all());
        cell.post(move |value| {
            drop(inner);
            value.0 += 1;
        });
        drop(cell);
        thread.join().unwrap();
        port.run_all();
    });
}

/// A poster against one that calls at once and is the last.
#[test]
fn post_against_call() {
    check_within(2, || {
        let port = Port::new();
        let cell = cell(lane(&port));
        let other = cell.clone();
        let runner = Arc::clone(&port);
        let poster = thread::spawn(move || {
            other.post(|value| value.0 += 1);
            drop(other);
            runner.run_all();
        });
        let _ = cell.call_now(|value| value.0 += 1);
        drop(cell);
        poster.join().unwrap();
        port.run_all();
    });
}
