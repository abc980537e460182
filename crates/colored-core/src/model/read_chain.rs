//! The protocol of readers and writers on one chain, by itself.

use super::chain::unlink;
use super::doubles::Witness;
use super::{check, check_within};
use crate::kernel::chain::{Admission, Chain, Kind, Node, Pushed, ReaderCount, Tail, Unlinked};
use crate::sync::{Arc, Mutex};
use loom::thread;
use std::ptr::NonNull;

/// A chain whose holder runs what it finds: a reader looks at the witness, any other node leaves a mark.
struct Shared {
    chain: Chain,
    ahead: ReaderCount,
    witness: Arc<Witness>,
    /// How many marks each reader saw.
    seen: Mutex<Vec<usize>>,
}

impl Shared {
    fn new() -> Arc<Self> {
        let (chain, ahead) = (Chain::new(), ReaderCount::new());
        Arc::new(Self { chain, ahead, witness: Witness::new(), seen: Mutex::new(Vec::new()) })
    }

    fn write(&self) {
        // SAFETY: the node is fresh, and freed only when it is out of the chain.
        let is_holder = match unsafe { self.chain.push(node(Kind::Callback)) } {
            Pushed::Taken => true,
            Pushed::Behind => false,
            Pushed::BehindReaders(readers) => self.ahead.add(readers),
        };
        if is_holder {
            self.hold();
        }
    }

    fn read(&self) {
        let node = node(Kind::Read);
        // SAFETY: the node is fresh, and freed only when it is out of the chain.
        if unsafe { self.chain.enter_or_push(node) } {
            free(node);
            self.look();
            if self.chain.leave(&self.ahead) {
                self.hold();
            }
        }
    }

    fn look(&self) {
        let marks = self.witness.marks().len();
        self.seen.lock().push(marks);
    }

    /// Runs all that is in the chain, as the holder, until this thread is not the holder any more.
    fn hold(&self) {
        loop {
            let head = self.chain.head();
            // SAFETY: this thread holds the chain.
            if unsafe { head.as_ref() }.kind == Kind::Read {
                if !self.admit(head) {
                    return;
                }
                continue;
            }
            self.witness.touch();
            let unlinked = loop {
                match unlink(&self.chain) {
                    Unlinked::Stalled => thread::yield_now(),
                    unlinked => break unlinked,
                }
            };
            free(head);
            if unlinked == Unlinked::Idle {
                return;
            }
        }
    }

    /// Admits the readers at the head, which look and leave one by one. True if this thread is the holder again.
    fn admit(&self, head: NonNull<Node>) -> bool {
        let mut readers = vec![head];
        loop {
            let mut behind = self.chain.next(readers[readers.len() - 1]);
            while let Some((node, Kind::Read)) = behind {
                readers.push(node);
                behind = self.chain.next(node);
            }
            let (last, behind) = (readers[readers.len() - 1], behind.map(|(node, _)| node));
            match self.chain.admit(last, behind, readers.len(), &self.ahead) {
                Admission::Done => break,
                Admission::More | Admission::Stalled => thread::yield_now(),
            }
        }
        readers.into_iter().fold(false, |_, reader| {
            free(reader);
            self.look();
            self.chain.leave(&self.ahead)
        })
    }

    /// All is over.
    fn check(&self, writes: usize, reads: usize) {
        assert_eq!(self.chain.tail(), Tail::Idle);
        assert_eq!(self.witness.marks().len(), writes);
        assert_eq!(self.seen.lock().len(), reads);
    }
}

fn node(kind: Kind) -> NonNull<Node> {
    NonNull::from(Box::leak(Box::new(Node::new(kind, 0))))
}

fn free(node: NonNull<Node>) {
    // SAFETY: `node` made it, it is out of the chain, and freed once.
    drop(unsafe { Box::from_raw(node.as_ptr()) });
}

/// Runs each function on a thread, the last one on this thread.
fn together<const N: usize>(shared: &Arc<Shared>, all: [fn(&Shared); N]) {
    let [others @ .., ours] = &all[..] else { return };
    let start = |act: &fn(&Shared)| {
        let (shared, act) = (Arc::clone(shared), *act);
        thread::spawn(move || act(&shared))
    };
    let threads: Vec<_> = others.iter().map(start).collect();
    ours(shared);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Shows G1.
#[test]
fn a_reader_and_a_writer() {
    check(|| {
        let shared = Shared::new();
        together(&shared, [Shared::read, Shared::write]);
        shared.check(1, 1);
    });
}

/// Shows G1.
#[test]
fn two_readers_and_a_writer() {
    check(|| {
        let shared = Shared::new();
        together(&shared, [Shared::read, Shared::read, Shared::write]);
        shared.check(1, 2);
    });
}

/// The second writer may come while the first one counts the readers.
/// Shows G1.
#[test]
fn a_reader_and_two_writers() {
    check(|| {
        let shared = Shared::new();
        together(&shared, [Shared::read, Shared::write, Shared::write]);
        shared.check(2, 1);
    });
}

/// Readers that waited are admitted while another reader, and a writer, come.
/// Shows G1.
#[test]
fn admission_against_a_reader_and_a_writer() {
    check_within(2, || {
        let shared = Shared::new();
        // SAFETY: the node is fresh, and freed only when it is out of the chain.
        assert_eq!(unsafe { shared.chain.push(node(Kind::Callback)) }, Pushed::Taken);
        shared.read();
        shared.read();
        together(&shared, [Shared::read, Shared::write, Shared::hold]);
        shared.check(2, 3);
    });
}

/// A thread sees its own write.
/// Shows G2.
#[test]
fn a_write_and_a_read_of_one_thread_beside_a_reader() {
    check(|| {
        let shared = Shared::new();
        let both = |shared: &Shared| {
            shared.write();
            shared.read();
        };
        together(&shared, [Shared::read, both]);
        shared.check(1, 2);
        assert!(shared.seen.lock().contains(&1));
    });
}

/// Seeded: looks first and pushes afterwards, where `Chain::enter_or_push` exchanges.
#[test]
#[should_panic(expected = "a reader waits for readers only")]
fn a_reader_that_looks_first_is_found() {
    check(|| {
        let shared = Shared::new();
        let late = |shared: &Shared| {
            if shared.chain.enter().is_ok() {
                shared.look();
                assert!(!shared.chain.leave(&shared.ahead), "nothing is pushed behind readers");
                return;
            }
            // SAFETY: the node is fresh, and freed only when it is out of the chain.
            match unsafe { shared.chain.push(node(Kind::Read)) } {
                Pushed::Taken => shared.hold(),
                Pushed::Behind => {}
                Pushed::BehindReaders(_) => panic!("a reader waits for readers only"),
            }
        };
        // SAFETY: the node is fresh, and freed only when it is out of the chain.
        assert_eq!(unsafe { shared.chain.push(node(Kind::Callback)) }, Pushed::Taken);
        shared.read();
        together(&shared, [Shared::hold, late]);
    });
}

/// Seeded: leaves before it looks.
/// Shows G1.
#[test]
#[should_panic(expected = "Causality violation")]
fn a_reader_that_leaves_first_is_found() {
    check(|| {
        let shared = Shared::new();
        let early = |shared: &Shared| {
            if shared.chain.enter().is_ok() {
                if shared.chain.leave(&shared.ahead) {
                    shared.hold();
                }
                shared.look();
            }
        };
        together(&shared, [early, Shared::write]);
    });
}
