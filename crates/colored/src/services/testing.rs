//! A runtime just large enough to test sockets and files: one shard, a thread that polls it, and
//! `block_on`.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle, Thread};

use super::{Services, current, entered};
use crate::driver::Driver;
use crate::driver::reactor::Shard;

/// A driver with its services, and the thread that polls its shard.
pub(crate) struct World {
    pub(crate) driver: Arc<Driver>,
    pub(crate) services: Arc<Services>,
    over: Arc<AtomicBool>,
    poller: Option<JoinHandle<()>>,
}

impl World {
    pub(crate) fn new() -> World {
        let services = Services::of(Driver::with_shard(Shard::new().unwrap()), 1);
        let driver = Arc::clone(&services.driver);
        let over = Arc::new(AtomicBool::new(false));
        let poller = thread::spawn({
            let (driver, over) = (driver.clone(), over.clone());
            move || {
                // Ordering: hint only. The join in `drop` orders the rest.
                while !over.load(Ordering::Relaxed) {
                    turn(&driver);
                }
            }
        });
        World { driver, services, over, poller: Some(poller) }
    }

    /// Polls `future` on this thread until it is done.
    pub(crate) fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _inside = self.enter();
        let waker = Waker::from(Arc::new(Unpark(thread::current())));
        let mut cx = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            match future.as_mut().poll(&mut cx) {
                Poll::Ready(output) => return output,
                Poll::Pending => thread::park(),
            }
        }
    }

    fn enter(&self) -> entered::Entered {
        entered::enter(current::Context::new(Arc::clone(&self.services), None))
    }
}

/// Waits for events and timers once, as a worker does, and calls their wakers.
fn turn(driver: &Driver) {
    let mut wakers = Vec::new();
    driver.park(0, None, &mut wakers);
    wakers.into_iter().for_each(Waker::wake);
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // Ordering: hint only; the wake carries it.
        self.over.store(true, Ordering::Relaxed);
        self.driver.unpark(0);
        self.poller.take().unwrap().join().unwrap();
        self.driver.shut_down();
    }
}

/// Runs one test body.
pub(crate) fn run<F: Future>(body: F) -> F::Output {
    World::new().block_on(body)
}
