//! Behaviors that come to a line while waits begin to be recorded: none is missed.

use super::doubles::{Endless, Port, gate, lane_of};
use super::pool::{pool, step_until_idle};
use super::{check, check_within};
use crate::cell::{ColorCell, when};
use crate::color::Color;
use crate::exclusive::exclusive;
use crate::lane::Dispatch;
use crate::spawn::JoinHandle;
use crate::sync::{Arc, Mutex};
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
            let port = Port::new();
            let lanes = [lane_of(&port, 1), lane_of(&port, 2)];
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
            port.run_all();
            assert!(poll(both.as_mut()).is_ready());
        });
    }
}

/// A section over blue begins, behind which a behavior waits that has green. Another one that has red comes
/// to the line of green meanwhile: the section is told that it cannot await a task of red.
#[test]
fn one_that_comes_behind_another_against_the_walk() {
    check_within(2, || {
        let (handle, mut workers, _beds) = pool(1);
        let colors = [1, 2, 3].map(Color::new);
        let [red, green, blue] = colors.map(|color| ColorCell::new_in(&handle, color, ()));
        let (go, gone) = gate();
        let place = Arc::new(Mutex::new(None::<JoinHandle<()>>));
        let joined = Arc::clone(&place);
        let section = exclusive(async move {
            gone.await;
            let task = joined.lock().take();
            task.expect("it is there").await.is_err_and(|error| error.is_deadlock())
        });
        let mut section = handle.spawn(blue.color(), section);
        let ours = green.clone();
        let mut before = Box::pin(async move { when((&ours, &blue), |(), ()| ()).await });
        assert!(poll(before.as_mut()).is_pending());
        let thread = thread::spawn(move || {
            let mut both = Box::pin(async move { when((&red, &green), |(), ()| ()).await });
            assert!(poll(both.as_mut()).is_pending());
            both
        });
        step_until_idle(&mut workers[0]);
        let mut both = thread.join().unwrap();
        *place.lock() = Some(handle.spawn_colored(colors[0], async {}));
        go.open();
        step_until_idle(&mut workers[0]);
        let is_told = section.try_take().expect("it hangs, and was not told");
        assert!(is_told.expect("it does not panic"));
        assert!(poll(before.as_mut()).is_ready() && poll(both.as_mut()).is_ready());
        drop((before, both));
        handle.scheduler().shut_down();
        step_until_idle(&mut workers[0]);
    });
}
