//! The end of a cell: posts reach the value without a reference.

use super::doubles::{Port, lane, run_beside};
use super::{check, check_within};
use crate::kernel::cell::ColorCell;
use crate::sync::Arc;
use loom::thread::JoinHandle;
use std::sync::Arc as Unmodelled;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Posts that have run, counted outside the value; `ENDED` more when the value is gone.
type Trace = Unmodelled<AtomicUsize>;

const ENDED: usize = 100;

/// The value of a cell: its drop is counted, and loom reports a leak if it is not dropped.
struct Value(Trace, #[expect(dead_code, reason = "for its drop")] Arc<()>);

impl Drop for Value {
    fn drop(&mut self) {
        self.0.fetch_add(ENDED, Ordering::Relaxed);
    }
}

fn cell(port: &Arc<Port>) -> (ColorCell<Value>, Trace) {
    let trace = Trace::default();
    (ColorCell::on_lane(lane(port), Value(Trace::clone(&trace), Arc::new(()))), trace)
}

/// Counts a post. A post after the end counts as a second end: a panic would go no further than the
/// post.
fn note(trace: &Trace) {
    let too_late = trace.fetch_add(1, Ordering::Relaxed) >= ENDED;
    trace.fetch_add(if too_late { ENDED } else { 0 }, Ordering::Relaxed);
}

fn post(cell: &ColorCell<Value>, trace: &Trace) {
    let (trace, witness) = (Trace::clone(trace), Arc::new(()));
    cell.post(move |_| {
        note(&trace);
        drop(witness);
    });
}

/// Posts on another thread, which then gives its clone back and runs what is runnable.
fn post_beside(port: &Arc<Port>, cell: &ColorCell<Value>, trace: &Trace) -> JoinHandle<()> {
    let (cell, trace) = (cell.clone(), Trace::clone(trace));
    run_beside(port, move || {
        post(&cell, &trace);
        drop(cell);
    })
}

fn assert_ran(trace: &Trace, posts: usize) {
    assert_eq!(trace.load(Ordering::Relaxed), ENDED + posts, "posts and the end");
}

/// Two posters give their clones back while the lane is run: the value outlives both posts.
/// Shows G8.
#[test]
fn posts_against_the_end() {
    check_within(2, || {
        let port = Port::new();
        let (cell, trace) = cell(&port);
        let poster = post_beside(&port, &cell, &trace);
        post(&cell, &trace);
        drop(cell);
        port.run_all();
        poster.join().unwrap();
        port.run_all();
        assert_ran(&trace, 2);
    });
}

/// A turn drops the last clone while it is inside the value: the end waits for its turn.
/// Shows G8.
#[test]
fn the_end_inside_a_post() {
    check(|| {
        let port = Port::new();
        let (cell, trace) = cell(&port);
        let thread = run_beside(&port, || ());
        let last = cell.clone();
        cell.post(move |value| {
            drop(last);
            note(&value.0);
        });
        drop(cell);
        thread.join().unwrap();
        port.run_all();
        assert_ran(&trace, 1);
    });
}

/// A poster against one that calls at once and is the last.
#[test]
fn post_against_call() {
    check_within(2, || {
        let port = Port::new();
        let (cell, trace) = cell(&port);
        let poster = post_beside(&port, &cell, &trace);
        if cell.call_now(|_| ()).is_err() {
            post(&cell, &trace);
        } else {
            trace.fetch_add(1, Ordering::Relaxed);
        }
        drop(cell);
        poster.join().unwrap();
        port.run_all();
        assert_ran(&trace, 2);
    });
}
