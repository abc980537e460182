//! What a behavior has while it lacks others is known to who records waits; and who is kept out by it.

use super::doubles::{Port, lane_of};
use super::{check, check_within};
use crate::cell::{ColorCell, when};
use crate::lane::Known;
use crate::lane::claim::Header;
use crate::sync::Arc;
use loom::thread;
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker};

type Cell = ColorCell<()>;

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Two cells. The second one's lane is busy, and runs on a port of its own.
fn cells(port: &Arc<Port>) -> (Arc<Port>, [Cell; 2]) {
    let later = Port::new();
    let cells = [(port, 1), (&later, 2)].map(|(port, color)| {
        let lane = lane_of(port, color);
        ColorCell::on_lane(lane, ())
    });
    cells[1].post(|()| ());
    (later, cells)
}

/// A behavior that nobody knew gets a lane, while somebody records it: that one sees it, or it is said.
#[test]
fn a_lane_that_is_got_against_who_records() {
    for shared in [false, true] {
        check(move || {
            let port = Port::new();
            let (later, [red, blue]) = cells(&port);
            red.post(|()| ());
            let mut alone = pin!((!shared).then(|| when((&red, &blue), |(), ()| ())));
            let mut beside = pin!(shared.then(|| when((red.shared(), &blue), |(), ()| ())));
            if let Some(mut both) = alone.as_mut().as_pin_mut() {
                assert!(poll(both.as_mut()).is_pending());
                got_against_make(&port, both.behavior());
            }
            if let Some(mut both) = beside.as_mut().as_pin_mut() {
                assert!(poll(both.as_mut()).is_pending());
                got_against_make(&port, both.behavior());
            }
            later.run_all();
            port.run_all();
            assert!(alone.as_pin_mut().is_none_or(|both| poll(both).is_ready()));
            assert!(beside.as_pin_mut().is_none_or(|both| poll(both).is_ready()));
        });
    }
}

fn got_against_make(port: &Arc<Port>, behavior: NonNull<Header>) {
    let runner = Arc::clone(port);
    let thread = thread::spawn(move || runner.run_all());
    // SAFETY: its future is kept meanwhile.
    let known = unsafe { Known::new(behavior) };
    known.make();
    let seen = known.has(0);
    thread.join().unwrap();
    assert!(known.has(0), "it has had its turn");
    assert!(seen || port.said().0 > 0, "nobody knows");
}

/// A writer and a reader come to a gate that a behavior holds open: a reader that is kept out is said to
/// be, also if the writer was half done when the usher looked.
#[test]
fn a_reader_behind_a_writer_is_said_to_be_kept_out() {
    check_within(2, || {
        let port = Port::watched();
        let (later, [red, blue]) = cells(&port);
        let mut both = pin!(when((red.shared(), &blue), |(), ()| ()));
        assert!(poll(both.as_mut()).is_pending());
        port.run_all();
        let writer = red.clone();
        let thread = thread::spawn(move || writer.post(|()| ()));
        let mut read = pin!(red.read(|()| ()));
        let mut is_in = poll(read.as_mut()).is_ready();
        thread.join().unwrap();
        port.run_all();
        is_in = is_in || poll(read.as_mut()).is_ready();
        assert!(is_in || port.said().1 > 0, "nobody knows");
        later.run_all();
        port.run_all();
        assert!(is_in || poll(read).is_ready());
        assert!(poll(both).is_ready());
    });
}
