//! The ring of a trace: the one writer against a reader that copies.

use super::check;
use crate::ext::trace::buffer::{Buffer, Word};
use crate::sync::{Arc, AtomicU64, Ordering, fence};
use loom::thread;

impl Word for AtomicU64 {
    fn zero() -> Self {
        Self::new(0)
    }

    fn load(&self, ordering: Ordering) -> u64 {
        (**self).load(ordering)
    }

    fn store(&self, value: u64, ordering: Ordering) {
        (**self).store(value, ordering);
    }

    fn fence(ordering: Ordering) {
        fence(ordering);
    }
}

type Ring = Arc<Buffer<AtomicU64>>;

/// An entry whose words name its serial number.
fn push(ring: &Ring, serial: u64) {
    ring.push([serial + 1; 4]);
}

/// The entries are whole, in order, and the ones that the copy says they are.
#[track_caller]
fn assert_whole((lost, entries): (u64, Vec<[u64; 4]>)) {
    for (serial, entry) in (lost..).zip(entries) {
        assert_eq!(entry, [serial + 1; 4], "a torn entry");
    }
}

/// A ring of so many entries, into which this thread pushes so many, while another one reads.
fn race(entries: usize, before: u64, meanwhile: u64, read: fn(&Ring)) {
    let ring: Ring = Arc::new(Buffer::new(entries));
    (0..before).for_each(|serial| push(&ring, serial));
    let copied = Arc::clone(&ring);
    let reader = thread::spawn(move || read(&copied));
    (before..before + meanwhile).for_each(|serial| push(&ring, serial));
    reader.join().unwrap();
    let (lost, kept) = ring.copy();
    assert_eq!(lost + kept.len() as u64, before + meanwhile, "a finished push is seen");
    assert_whole((lost, kept));
}

#[test]
fn a_copy_against_pushes_into_free_places() {
    check(|| race(4, 1, 2, |ring| assert_whole(ring.copy())));
}

#[test]
fn a_copy_of_a_full_ring_against_pushes() {
    check(|| race(2, 2, 2, |ring| assert_whole(ring.copy())));
}

/// Seeded: the reader trusts its first look at the head.
#[test]
#[should_panic(expected = "a torn entry")]
fn a_reader_without_the_second_look_is_found() {
    check(|| race(2, 2, 2, |ring| assert_whole(ring.copy_with(|| 2))));
}

/// Seeded: the second look comes too early, because no fence keeps it behind the loads of the words.
#[test]
#[should_panic(expected = "a torn entry")]
fn a_second_look_without_a_fence_is_found() {
    check(|| {
        race(2, 2, 2, |ring| {
            // Ordering: the missing fence is the fault.
            assert_whole(ring.copy_with(|| ring.head().load(Ordering::Relaxed)));
        });
    });
}
