//! Readers that are queued just as the gate opens: no reader is left behind.
//!
//! In each model a behavior that reads one cell, and waits for another, is inside. A reader that is left behind would
//! stay there until the behavior has both.

use super::doubles::{OneTurn, Port, Witness, lane_of};
use super::{check, check_within};
use crate::cell::{ColorCell, when};
use crate::lane::LaneRef;
use crate::lane::readers;
use crate::lane::readers::queued::{self, QueuedRead};
use crate::sync::{Arc, Mutex};
use loom::thread;
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, Waker};

type Cell = ColorCell<()>;
type Pending = Pin<Box<dyn Future<Output = ()> + Send>>;

fn poll(future: &mut Pending) -> bool {
    future.as_mut().poll(&mut Context::from_waker(Waker::noop())) == Poll::Ready(())
}

fn begin(future: impl Future<Output = ()> + Send + 'static) -> Option<Pending> {
    let mut future: Pending = Box::pin(future);
    (!poll(&mut future)).then_some(future)
}

fn is_done(begun: Option<Pending>) -> bool {
    begun.is_none_or(|mut future| poll(&mut future))
}

/// A reader, if it has to wait.
fn read(cell: &Cell, witness: &Arc<Witness>) -> Option<Pending> {
    let (cell, witness) = (cell.clone(), Arc::clone(witness));
    begin(async move { cell.read(move |()| drop(witness.marks())).await })
}

/// A behavior that wants to read `red`, and gets `blue` only after `later` has run.
struct Scene {
    port: Arc<Port>,
    later: Arc<Port>,
    red: Cell,
    blue: Cell,
    witness: Arc<Witness>,
}

impl Scene {
    fn new() -> Self {
        let (port, later) = (Port::new(), Port::new());
        let red = ColorCell::on_lane(lane_of(&port, 1), ());
        let blue = ColorCell::on_lane(lane_of(&later, 2), ());
        blue.post(|()| ());
        Self { port, later, red, blue, witness: Arc::new(Witness::new()) }
    }

    fn behavior(&self) -> Option<Pending> {
        let (red, blue) = (self.red.clone(), self.blue.clone());
        let both = begin(async move { when((red.shared(), &blue), |(), ()| ()).await });
        assert!(both.is_some(), "it waits for blue");
        both
    }

    /// Lets the behavior have its other cell.
    fn end(self, both: Option<Pending>) {
        self.later.run_all();
        self.port.run_all();
        assert!(is_done(both));
    }
}

/// One reader, while a worker opens the gate.
#[test]
fn a_reader_against_the_opening() {
    check_within(3, || {
        let scene = Scene::new();
        let both = scene.behavior();
        let runner = Arc::clone(&scene.port);
        let thread = thread::spawn(move || runner.run_all());
        let read = read(&scene.red, &scene.witness);
        thread.join().unwrap();
        scene.port.run_all();
        assert!(is_done(read));
        scene.end(both);
    });
}

/// A second behavior of that kind is queued while a worker opens the gate: both have red then, since an exclusive one
/// does not get it.
#[test]
fn a_shared_claim_against_the_opening() {
    check_within(2, || {
        let scene = Scene::new();
        let both = scene.behavior();
        let runner = Arc::clone(&scene.port);
        let thread = thread::spawn(move || runner.run_all());
        let green = ColorCell::on_lane(lane_of(&scene.port, 3), ());
        let red = scene.red.clone();
        let other = begin(async move { when((red.shared(), &green), |(), ()| ()).await });
        thread.join().unwrap();
        scene.port.run_all();
        assert!(is_done(other));
        scene.end(both);
    });
}

/// Two readers, and a writer behind one of them: that reader is admitted, wherever the other one is queued; and no
/// reader runs beside the writer.
#[test]
fn two_readers_and_a_writer_against_the_opening() {
    check_within(2, || {
        let scene = Scene::new();
        let both = scene.behavior();
        let thread = {
            let (red, witness) = (scene.red.clone(), Arc::clone(&scene.witness));
            thread::spawn(move || {
                let read = read(&red, &witness);
                red.post(move |()| witness.touch());
                read
            })
        };
        scene.port.run_one(&mut OneTurn);
        let behind = read(&scene.red, &scene.witness);
        scene.port.run_all();
        let before = thread.join().unwrap();
        scene.port.run_all();
        assert!(is_done(before));
        let witness = Arc::clone(&scene.witness);
        scene.end(both);
        assert!(is_done(behind));
        assert_eq!(witness.marks().len(), 1);
    });
}

/// Two readers, each on a thread of its own, while a third thread opens the gate: one of them may find an admitter, and
/// asks it to look again.
#[test]
fn two_readers_against_the_opening() {
    check_within(2, || {
        let scene = Scene::new();
        let both = scene.behavior();
        let (red, witness) = (scene.red.clone(), Arc::clone(&scene.witness));
        let reader = thread::spawn(move || read(&red, &witness));
        let runner = Arc::clone(&scene.port);
        let opener = thread::spawn(move || runner.run_one(&mut OneTurn));
        let ours = read(&scene.red, &scene.witness);
        let theirs = reader.join().unwrap();
        opener.join().unwrap();
        scene.port.run_all();
        assert!(is_done(ours));
        assert!(is_done(theirs));
        scene.end(both);
    });
}

/// A reader and a writer on two threads, while a third thread opens the gate: a reader that waits is behind the writer.
/// The writer may be half done when an admitter finds the reader before it.
#[test]
fn a_reader_and_a_writer_against_the_opening() {
    check_within(2, || {
        let scene = Scene::new();
        let both = scene.behavior();
        let reader = {
            let (red, witness) = (scene.red.clone(), Arc::clone(&scene.witness));
            thread::spawn(move || {
                let seen = Arc::new(Mutex::new(None));
                let see = Arc::clone(&seen);
                let look = move |(): &()| *see.lock() = Some(witness.marks().len());
                (begin(async move { red.read(look).await }), seen)
            })
        };
        let writer = {
            let (red, witness) = (scene.red.clone(), Arc::clone(&scene.witness));
            thread::spawn(move || red.post(move |()| witness.touch()))
        };
        scene.port.run_one(&mut OneTurn);
        let (read, seen) = reader.join().unwrap();
        writer.join().unwrap();
        scene.port.run_all();
        let early = *seen.lock();
        scene.end(both);
        assert!(is_done(read));
        assert_eq!(*seen.lock(), Some(early.unwrap_or(1)));
    });
}

/// Leaves a mark when it is dropped; loom watches the mark.
struct Mark(Option<Arc<Witness>>);

impl Mark {
    fn forgo(mut self) {
        self.0 = None;
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        if let Some(witness) = &self.0 {
            witness.touch();
        }
    }
}

/// A reader is dropped just after it was queued: its closure is not dropped while readers are inside, and does not keep
/// others from going in.
#[test]
fn an_abandoned_reader_against_the_opening() {
    check_within(2, || {
        let scene = Scene::new();
        let both = scene.behavior();
        let thread = {
            let (red, mark) = (scene.red.clone(), Mark(Some(Arc::clone(&scene.witness))));
            thread::spawn(move || {
                // A closure that runs leaves no mark: it is beside others.
                drop(begin(async move { red.read(move |()| mark.forgo()).await }));
            })
        };
        scene.port.run_one(&mut OneTurn);
        let ours = read(&scene.red, &scene.witness);
        scene.port.run_all();
        thread.join().unwrap();
        scene.port.run_all();
        assert!(is_done(ours));
        let witness = Arc::clone(&scene.witness);
        scene.end(both);
        assert!(witness.marks().len() <= 1);
    });
}

/// Is queued to read whatever the state of the gate, and looks whether it is counted. It keeps the lane.
struct Reader {
    lane: LaneRef,
    uncounted: std::sync::Arc<AtomicBool>,
}

impl QueuedRead for Reader {
    fn begin(&mut self, _closing: bool) -> bool {
        true
    }

    fn begin_beside(&mut self) -> bool {
        true
    }

    fn run(&mut self) -> Option<Waker> {
        // A panic would be caught on the way out.
        self.uncounted.fetch_or(!readers::has_readers(&self.lane), Relaxed);
        None
    }

    fn cancel(&mut self) {}
}

/// A reader is admitted beside another one, which leaves, and runs on that reader's thread before its admitter has gone
/// on. The reader was counted before it was woken, and takes no count from the admitter when it leaves.
#[test]
fn a_reader_that_runs_against_its_admitter() {
    let uncounted = std::sync::Arc::new(AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&uncounted);
    check(move || {
        let port = Port::new();
        let lane = lane_of(&port, 1);
        let (other, runner) = (lane.clone(), Arc::clone(&port));
        let reader = Reader { lane: lane.clone(), uncounted: std::sync::Arc::clone(&seen) };
        let inside = readers::read_inline(&lane, || {
            thread::spawn(move || {
                queued::post(&other, reader);
                drop(other);
                runner.run_all();
            })
        });
        let Ok(thread) = inside else { panic!("it is idle") };
        port.run_all();
        thread.join().unwrap();
        port.run_all();
        let written = ColorCell::on_lane(lane, ()).call_now(|()| ()).is_ok();
        assert!(written, "the gate is still open");
    });
    assert!(!uncounted.load(Relaxed), "a reader ran that was not counted");
}
