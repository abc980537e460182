//! Readers beside each other, against writers.

use super::doubles::{self, Port, Turns, Witness, lane, run_beside};
use super::{check, check_within};
use crate::kernel::cell::ColorCell;
use crate::sync::Arc;
use loom::thread;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

type Cell = ColorCell<()>;
type Pending = Pin<Box<dyn Future<Output = usize> + Send>>;

fn scene() -> (Arc<Port>, Cell, Arc<Witness>) {
    let (port, lane, witness) = doubles::scene();
    (port, ColorCell::on_lane(lane, ()), witness)
}

fn poll(future: &mut Pending) -> Option<usize> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(seen) => Some(seen),
        Poll::Pending => None,
    }
}

/// A read that has been polled once.
enum Read {
    Done(usize),
    Waits(Pending),
}

/// Counts the marks, as a reader.
fn read(cell: &Cell, witness: &Arc<Witness>) -> Read {
    let witness = Arc::clone(witness);
    let cell = cell.clone();
    let mut future: Pending =
        Box::pin(async move { cell.read(move |()| witness.marks().len()).await });
    poll(&mut future).map_or(Read::Waits(future), Read::Done)
}

impl Read {
    /// How many marks the reader saw.
    fn seen(self) -> usize {
        match self {
            Self::Done(seen) => seen,
            Self::Waits(mut future) => poll(&mut future).expect("it never went in"),
        }
    }
}

fn write(cell: &Cell, witness: &Arc<Witness>) {
    let witness = Arc::clone(witness);
    cell.post(move |()| witness.touch());
}

/// Two readers and a writer, each on a thread of its own; all threads run the lanes that they find.
/// Shows G1.
#[test]
fn two_readers_and_a_writer() {
    check_within(2, || {
        let (port, cell, witness) = scene();
        let readers = [(), ()].map(|()| {
            let (cell, witness) = (cell.clone(), Arc::clone(&witness));
            thread::spawn(move || read(&cell, &witness))
        });
        write(&cell, &witness);
        port.run_all();
        let readers = readers.map(|thread| thread.join().unwrap());
        port.run_all();
        for reader in readers {
            assert!(reader.seen() <= 1);
        }
        assert_eq!(witness.marks().len(), 1);
    });
}

/// A caller looks for a moment in which no reader is inside, and readers let it go first.
#[test]
fn two_readers_and_a_caller() {
    check_within(2, || {
        let (port, cell, witness) = scene();
        let readers = [(), ()].map(|()| {
            let (cell, witness) = (cell.clone(), Arc::clone(&witness));
            thread::spawn(move || read(&cell, &witness))
        });
        let (called, seen) = (cell.clone(), Arc::clone(&witness));
        let mut call: Pending = Box::pin(async move {
            called.call(move |()| seen.touch()).await;
            0
        });
        let ran = poll(&mut call).is_some();
        let readers = readers.map(|thread| thread.join().unwrap());
        port.run_all();
        for reader in readers {
            assert!(reader.seen() <= 1);
        }
        assert!(ran || poll(&mut call).is_some(), "the call never had its turn");
        assert_eq!(witness.marks().len(), 1);
    });
}

/// The last reader leaves while a writer pushes: one of the two threads ensures that the writer
/// runs.
/// Shows G1.
#[test]
fn leave_against_push() {
    check(|| {
        let (port, cell, witness) = scene();
        let (writer, seen) = (cell.clone(), Arc::clone(&witness));
        let thread = run_beside(&port, move || {
            write(&writer, &seen);
            drop(writer);
        });
        let read = read(&cell, &witness);
        drop(cell);
        thread.join().unwrap();
        port.run_all();
        assert!(read.seen() <= 1);
        assert_eq!(witness.marks().len(), 1);
    });
}

/// Waiting readers are admitted together, while another reader comes, and a writer behind all of
/// them: the writer runs last, and each reader sees all earlier writes.
#[test]
fn admission_against_push() {
    check_within(2, || {
        let (port, cell, witness) = scene();
        write(&cell, &witness);
        let first = read(&cell, &witness);
        let thread = {
            let (cell, witness) = (cell.clone(), Arc::clone(&witness));
            thread::spawn(move || {
                let second = read(&cell, &witness);
                write(&cell, &witness);
                second
            })
        };
        port.run_one(Turns::One);
        port.run_all();
        let second = thread.join().unwrap();
        port.run_all();
        assert_eq!(first.seen(), 1);
        assert_eq!(second.seen(), 1);
        assert_eq!(witness.marks().len(), 2);
    });
}

/// A thread that writes and then reads, while another one reads, sees its own write: it does not go
/// in beside the other reader.
#[test]
fn write_and_read_beside_a_reader() {
    check_within(2, || {
        let (port, cell, witness) = scene();
        let (other, seen) = (cell.clone(), Arc::clone(&witness));
        let thread = thread::spawn(move || read(&other, &seen));
        write(&cell, &witness);
        let ours = read(&cell, &witness);
        port.run_all();
        let theirs = thread.join().unwrap();
        port.run_all();
        assert_eq!(ours.seen(), 1);
        assert!(theirs.seen() <= 1);
    });
}

/// A reader finds others inside, and enters when readers are inside the next time, after a writer: the
/// reader sees the writer's mark.
/// Shows G1.
#[test]
fn enter_the_next_time() {
    check(|| {
        let (port, cell, witness) = scene();
        let (other, seen) = (cell.clone(), Arc::clone(&witness));
        let thread = thread::spawn(move || read(&other, &seen));
        let before = read(&cell, &witness);
        let mark = Arc::clone(&witness);
        let wrote = cell.call_now(move |()| mark.touch()).is_ok();
        let after = read(&cell, &witness);
        let theirs = thread.join().unwrap();
        port.run_all();
        assert_eq!(before.seen(), 0);
        assert_eq!(after.seen(), usize::from(wrote));
        assert!(theirs.seen() <= 1);
    });
}

/// Admitted readers are on two threads when the last one leaves.
/// Shows G1.
#[test]
fn two_admitted_readers_leave_together() {
    check_within(2, || {
        let (port, cell, witness) = scene();
        write(&cell, &witness);
        let readers = [read(&cell, &witness), read(&cell, &witness)];
        write(&cell, &witness);
        drop(cell);
        // The writer, and the readers into their lanes.
        port.run_one(Turns::One);
        port.run_one(Turns::One);
        let thread = run_beside(&port, || ());
        port.run_all();
        thread.join().unwrap();
        port.run_all();
        for reader in readers {
            assert_eq!(reader.seen(), 1);
        }
        assert_eq!(witness.marks().len(), 2);
    });
}

/// A read is dropped while its turn comes.
/// Shows G8.
#[test]
fn drop_against_admission() {
    check(|| {
        let port = Port::new();
        let cell = ColorCell::on_lane(lane(&port), ());
        let payload = Arc::new(());
        cell.post(|()| ());
        let mut future = Box::pin(async move { cell.read(move |()| drop(payload)).await });
        let polled = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        let thread = run_beside(&port, || ());
        drop(future);
        thread.join().unwrap();
        port.run_all();
    });
}
