//! Readers of one batch, on several lanes: here each lane takes one reader, and sends another lane
//! on.

use super::check_within;
use super::doubles::{Port, Turns, Witness, lane, run_beside};
use crate::kernel::cell::ColorCell;
use crate::sync::Arc;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

type Pending = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Each reader reads once, and sees all that was written before. The next writer writes when all
/// have read.
/// Shows G1.
#[test]
fn three_readers_of_a_batch_on_two_lanes() {
    check_within(2, || {
        let port = Port::new();
        let cell = ColorCell::on_lane(lane(&port), ());
        let written = Witness::new();
        let write = || {
            let written = Arc::clone(&written);
            cell.post(move |()| written.touch());
        };
        write();
        let readers: Vec<_> = (0..3).map(|_| Reader::new(&cell, &written)).collect();
        write();
        drop(cell);
        // The write, and the readers into their lanes.
        port.run_one(Turns::One);
        port.run_one(Turns::One);
        let thread = run_beside(&port, || ());
        port.run_all();
        thread.join().unwrap();
        port.run_all();
        readers.into_iter().for_each(Reader::finish);
        assert_eq!(written.marks().len(), 2);
    });
}

struct Reader {
    reads: Arc<Witness>,
    waits: Pending,
}

impl Reader {
    fn new(cell: &ColorCell<()>, written: &Arc<Witness>) -> Self {
        let reads = Witness::new();
        let (cell, own, written) = (cell.clone(), Arc::clone(&reads), Arc::clone(written));
        let mut waits: Pending = Box::pin(async move {
            cell.read(move |()| {
                assert_eq!(written.marks().len(), 1);
                own.touch();
            })
            .await;
        });
        assert!(poll(&mut waits).is_pending());
        Self { reads, waits }
    }

    fn finish(mut self) {
        assert!(poll(&mut self.waits).is_ready(), "it never went in");
        assert_eq!(self.reads.marks().len(), 1);
    }
}

fn poll(waits: &mut Pending) -> Poll<()> {
    waits.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}
