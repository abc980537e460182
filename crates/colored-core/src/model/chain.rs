//! The queue by itself.

use super::check;
use crate::kernel::chain::{Chain, Kind, Node, Pushed, Rotated, Unlinked};
use crate::sync::{Arc, Mutex};
use loom::thread;
use std::ptr::NonNull;

struct Shared {
    chain: Chain,
    /// The nodes in the order in which they were taken out.
    taken: Mutex<Vec<usize>>,
}

/// Nodes that outlive the model, and are freed by the test.
struct Nodes([NonNull<Node>; 3]);

// SAFETY: the nodes are on the heap and made to move between threads; each is freed once.
unsafe impl Send for Nodes {}
// SAFETY: a shared reference gives copies of the pointers only, and the link of a node is atomic.
unsafe impl Sync for Nodes {}

impl Nodes {
    fn new() -> Self {
        Self([(); 3].map(|()| NonNull::from(Box::leak(Box::new(Node::new(Kind::Callback, 0))))))
    }

    fn index(&self, node: NonNull<Node>) -> usize {
        self.0.iter().position(|own| *own == node).expect("one of ours")
    }
}

/// Takes the head out, as the holder.
pub(super) fn unlink(chain: &Chain) -> Unlinked {
    let head = chain.head();
    chain.unlink_head(head, chain.behind(head))
}

/// Takes all nodes out, as the holder.
fn drain(shared: &Shared, nodes: &Nodes) {
    loop {
        let head = shared.chain.head();
        match unlink(&shared.chain) {
            Unlinked::More => {}
            Unlinked::Stalled => {
                thread::yield_now();
                continue;
            }
            Unlinked::Idle => {
                shared.taken.lock().push(nodes.index(head));
                // SAFETY: the node is out of the chain, and only this thread has taken it.
                drop(unsafe { Box::from_raw(head.as_ptr()) });
                return;
            }
        }
        shared.taken.lock().push(nodes.index(head));
        // SAFETY: the node is out of the chain, and only this thread has taken it.
        drop(unsafe { Box::from_raw(head.as_ptr()) });
    }
}

fn push_and_drain(shared: &Shared, nodes: &Nodes, which: &[usize]) {
    for index in which {
        // SAFETY: the node is in no chain yet, and freed only when it has been unlinked.
        match unsafe { shared.chain.push(nodes.0[*index]) } {
            Pushed::Taken => drain(shared, nodes),
            Pushed::Behind => {}
            Pushed::BehindReaders(_) => unreachable!("no reader is here"),
        }
    }
}

fn shared() -> (Arc<Shared>, Arc<Nodes>) {
    let shared = Shared { chain: Chain::new(), taken: Mutex::new(Vec::new()) };
    (Arc::new(shared), Arc::new(Nodes::new()))
}

/// Each node is taken once, in its producer's order, and freed at once: no producer may still be
/// writing into it.
/// Shows G2.
#[test]
fn two_producers_against_the_holder() {
    check(|| {
        let (shared, nodes) = shared();
        let (shared_too, nodes_too) = (Arc::clone(&shared), Arc::clone(&nodes));
        let thread = thread::spawn(move || push_and_drain(&shared_too, &nodes_too, &[0]));
        push_and_drain(&shared, &nodes, &[1, 2]);
        thread.join().unwrap();
        let taken = shared.taken.lock().clone();
        let place = |index| taken.iter().position(|taken| *taken == index).expect("taken");
        assert!(place(1) < place(2), "the order of one producer");
        assert_eq!(taken.len(), 3);
    });
}

/// With three producers the holder meets links that are not there yet.
/// Shows G2.
#[test]
fn three_producers() {
    check(|| {
        let (shared, nodes) = shared();
        let threads = [0, 1].map(|index| {
            let (shared, nodes) = (Arc::clone(&shared), Arc::clone(&nodes));
            thread::spawn(move || push_and_drain(&shared, &nodes, &[index]))
        });
        push_and_drain(&shared, &nodes, &[2]);
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(shared.taken.lock().len(), 3);
    });
}

/// A head that goes behind all others, while two producers add nodes.
/// Shows G2.
#[test]
fn rotate_against_push() {
    check(|| {
        let (shared, nodes) = shared();
        // SAFETY: the node is in no chain yet, and freed only when it has been unlinked.
        assert_eq!(unsafe { shared.chain.push(nodes.0[0]) }, Pushed::Taken);
        let threads = [1, 2].map(|index| {
            let (shared, nodes) = (Arc::clone(&shared), Arc::clone(&nodes));
            thread::spawn(move || {
                // SAFETY: the node is in no chain yet, and freed only when it has been unlinked.
                let pushed = unsafe { shared.chain.push(nodes.0[index]) };
                assert_eq!(pushed, Pushed::Behind, "the chain is held");
            })
        });
        let stayed = loop {
            match shared.chain.rotate_head() {
                Rotated::Moved => break false,
                Rotated::Alone => break true,
                Rotated::Stalled => thread::yield_now(),
            }
        };
        assert_eq!(stayed, shared.chain.head() == nodes.0[0], "moved means behind another");
        for thread in threads {
            thread.join().unwrap();
        }
        drain(&shared, &nodes);
        assert_eq!(shared.taken.lock().len(), 3);
    });
}

/// Two takes with one node, against a push: one holder at a time.
/// Shows G1.
#[test]
fn take_against_push() {
    check(|| {
        let (shared, nodes) = shared();
        let (shared_too, nodes_too) = (Arc::clone(&shared), Arc::clone(&nodes));
        let inline = |shared: &Shared, nodes: &Nodes| {
            let own = nodes.0[2];
            // SAFETY: the node is fresh or was unlinked, and is alive to the end of the model.
            if !unsafe { shared.chain.try_take(own) } {
                return;
            }
            loop {
                assert_eq!(shared.chain.head(), own);
                match unlink(&shared.chain) {
                    Unlinked::Idle => return,
                    Unlinked::Stalled => thread::yield_now(),
                    Unlinked::More => return drain(shared, nodes),
                }
            }
        };
        let thread = thread::spawn(move || inline(&shared_too, &nodes_too));
        push_and_drain(&shared, &nodes, &[0]);
        inline(&shared, &nodes);
        thread.join().unwrap();
        assert_eq!(*shared.taken.lock(), [0]);
        for index in [1, 2] {
            // SAFETY: the node is in no chain any more, and freed once.
            drop(unsafe { Box::from_raw(nodes.0[index].as_ptr()) });
        }
    });
}
