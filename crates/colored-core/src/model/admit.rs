//! Readers that come just as others are admitted: no reader is left behind them.
//!
//! In each model a behavior that reads one cell, and waits for another, is admitted. A reader that is left behind would
//! stay there until the behavior has both.

use super::check_within;
use super::doubles::{Port, Turns, Witness, lane_of};
use crate::kernel::cell::{ColorCell, when};
use crate::sync::{Arc, Mutex};
use loom::thread;
use std::pin::Pin;
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

/// A behavior that wants to read `red`, and gets `blue` only after `later` has run. It is at the head of red.
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
        red.post(|()| ());
        Self { port, later, red, blue, witness: Witness::new() }
    }

    fn behavior(&self) -> Option<Pending> {
        let (red, blue) = (self.red.clone(), self.blue.clone());
        let both = begin(async move { when((red.shared(), &blue), |(), ()| ()).await });
        assert!(both.is_some(), "it waits for blue");
        // The post to red.
        assert!(self.port.run_one(Turns::One));
        both
    }

    /// Lets the behavior have its other cell.
    fn end(self, both: Option<Pending>) {
        self.later.run_all();
        self.port.run_all();
        assert!(is_done(both));
    }
}

/// One reader, while a worker admits the behavior.
#[test]
fn a_reader_against_the_admission() {
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

/// A second behavior of that kind comes while a worker admits the first one: both have red then, since an exclusive one
/// does not get it.
#[test]
fn a_shared_claim_against_the_admission() {
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
fn two_readers_and_a_writer_against_the_admission() {
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
        scene.port.run_one(Turns::One);
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

/// Two readers, each on a thread of its own, while a third thread admits the behavior.
#[test]
fn two_readers_against_the_admission() {
    check_within(2, || {
        let scene = Scene::new();
        let both = scene.behavior();
        let (red, witness) = (scene.red.clone(), Arc::clone(&scene.witness));
        let reader = thread::spawn(move || read(&red, &witness));
        let runner = Arc::clone(&scene.port);
        let opener = thread::spawn(move || runner.run_one(Turns::One));
        let ours = read(&scene.red, &scene.witness);
        let theirs = reader.join().unwrap();
        opener.join().unwrap();
        scene.port.run_all();
        assert!(is_done(ours));
        assert!(is_done(theirs));
        scene.end(both);
    });
}

/// A reader and a writer on two threads, while a third thread admits the behavior: a reader that waits is behind the
/// writer. The writer may be half done when the holder finds the reader before it.
#[test]
fn a_reader_and_a_writer_against_the_admission() {
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
        scene.port.run_one(Turns::One);
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
fn an_abandoned_reader_against_the_admission() {
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
        scene.port.run_one(Turns::One);
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
