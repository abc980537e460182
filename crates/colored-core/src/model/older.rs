//! Behaviors that come to a line while waits begin to be recorded: none is missed.

use super::check;
use super::doubles::{Endless, Port, lane_of};
use crate::cell::{ColorCell, when};
use crate::lane::Dispatch;
use loom::thread;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A behavior comes to a lane that stands still, while who recorded no waits before begins to, and walks
/// the line: that one finds it, or it says so itself.
#[test]
fn one_that_comes_against_the_walk() {
    for is_last in [false, true] {
        check(move || {
            let (port, busy) = (Port::new(), Port::new());
            let lanes = [lane_of(&port, 1), lane_of(&busy, 2)];
            let lane = lanes[0].clone();
            let [red, blue] = lanes.map(|lane| ColorCell::on_lane(lane, ()));
            // Somebody has red, and goes no further; or blue too.
            red.post(|()| ());
            if is_last {
                blue.post(|()| ());
            }
            let held = port.take().expect("red is busy");
            let ours = red.clone();
            let thread = thread::spawn(move || {
                let mut both = Box::pin(async move { when((&ours, &blue), |(), ()| ()).await });
                assert!(poll(both.as_mut()).is_pending());
                both
            });
            port.watch();
            // SAFETY: this thread has the right to run it.
            while !unsafe { port.stands_still(lane.ptr()) } {
                thread::yield_now();
            }
            let mut both = thread.join().unwrap();
            assert!(port.said().0 > 0, "nobody knows");
            drop(held.run(&mut Endless));
            busy.run_all();
            port.run_all();
            assert!(poll(both.as_mut()).is_ready());
        });
    }
}
