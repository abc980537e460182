//! The order of wakes that tokio draws: a simulation draws it by its seed.
//!
//! `tokio::sync::watch` divides its receivers among eight lists by chance, and wakes a list after the other. In a simulation
//! each of these wakes goes to a list of the thread first; whoever has caused the wakes then [releases](release) them in an
//! order that the seed has drawn when the waits began. Where tokio's own type has caused them, the thread's next act on a color
//! releases them before it: no wake comes behind what the program does later. On a thread without a simulation a wait is
//! tokio's.

use colored_core::port::OfStack;
use pin_project_lite::pin_project;
use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

thread_local! {
    /// One more than the number of the next wait, on a thread with a simulation; otherwise 0.
    static NEXT: Cell<u64> = const { Cell::new(0) };
    /// How the simulation draws a number below another one.
    static DRAW: Cell<fn(u32) -> u32> = const { Cell::new(|_| 0) };
    static WOKEN: RefCell<Vec<Arc<Ordered>>> = const { RefCell::new(Vec::new()) };
}

/// Those that what runs on this stack has woken.
pub static WOKEN_OF_STACK: OfStack<RefCell<Vec<Arc<Ordered>>>> = OfStack(&WOKEN);

/// tokio's lists of receivers.
const LISTS: u32 = 8;

/// A waker with its place among those that are woken together.
pub struct Ordered {
    place: (u32, u64),
    waker: Waker,
}

impl Wake for Ordered {
    fn wake(self: Arc<Self>) {
        // Another thread wakes at once; so does one whose thread-locals are gone.
        let is_simulated = NEXT.try_with(Cell::get).unwrap_or(0) > 0;
        match WOKEN.try_with(|woken| is_simulated.then(|| woken.borrow_mut().push(self.clone()))) {
            Ok(Some(())) => {}
            _ => self.waker.wake_by_ref(),
        }
    }
}

/// The waits of a simulation.
#[derive(Clone, Copy, Debug)]
pub struct Waits(u64);

/// Orders the waits of this thread from now on, by numbers below another one that are drawn so.
pub fn begin(draw: fn(u32) -> u32) {
    NEXT.set(1);
    DRAW.set(draw);
}

/// Takes them, for another thread that goes on with the simulation.
#[must_use]
pub fn take() -> Waits {
    Waits(NEXT.replace(0))
}

/// Orders the waits of this thread as those that another thread had, which drew so.
pub fn go_on(Waits(next): Waits, draw: fn(u32) -> u32) {
    NEXT.set(next);
    DRAW.set(draw);
}

/// Wakes those that wait, in their order.
pub fn release() {
    if WOKEN.try_with(|woken| woken.borrow().is_empty()).unwrap_or(true) {
        return;
    }
    let mut woken = WOKEN.take();
    woken.sort_by_key(|ordered| ordered.place);
    woken.iter().for_each(|ordered| ordered.waker.wake_by_ref());
}

pin_project! {
    /// A future that tokio wakes, with others, in an order that it draws.
    #[must_use = "futures do nothing unless awaited"]
    pub struct InOrder<F> {
        ordered: Option<Arc<Ordered>>,
        #[pin]
        future: F,
    }
}

/// Makes the wait one of those whose order is drawn. Cancel safe if the wait is.
pub fn in_order<F>(future: F) -> InOrder<F> {
    InOrder { ordered: None, future }
}

impl<F: Future> Future for InOrder<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if this.ordered.is_none() && NEXT.get() == 0 {
            return this.future.poll(cx);
        }
        let ordered = match &*this.ordered {
            Some(ordered) if ordered.waker.will_wake(cx.waker()) => ordered.clone(),
            earlier => {
                let place = earlier.as_ref().map_or_else(draw_place, |earlier| earlier.place);
                this.ordered.insert(Arc::new(Ordered { place, waker: cx.waker().clone() })).clone()
            }
        };
        let polled = this.future.poll(&mut Context::from_waker(&ordered.into()));
        release();
        polled
    }
}

fn draw_place() -> (u32, u64) {
    let next = NEXT.get();
    NEXT.set(next + 1);
    (DRAW.get()(LISTS), next)
}

#[cfg(test)]
mod tests {
    use super::{begin, in_order, release};
    use std::pin::pin;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Wake, Waker};
    use std::thread;
    use tokio::sync::watch;

    struct Note(u32, Arc<Mutex<Vec<u32>>>);

    impl Wake for Note {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    /// The order in which ten receivers are woken.
    fn order(draw: fn(u32) -> u32) -> Vec<u32> {
        let run = move || {
            begin(draw);
            let woken = Arc::default();
            let (sender, receiver) = watch::channel(0);
            let mut receivers: Vec<_> = (0..10).map(|_| receiver.clone()).collect();
            let mut waits: Vec<_> = receivers
                .iter_mut()
                .map(|receiver| Box::pin(in_order(receiver.changed())))
                .collect();
            for (number, wait) in waits.iter_mut().enumerate() {
                let waker = Waker::from(Arc::new(Note(number as u32, Arc::clone(&woken))));
                assert!(pin!(wait).poll(&mut Context::from_waker(&waker)).is_pending());
            }
            sender.send(1).unwrap();
            assert!(woken.lock().unwrap().is_empty());
            release();
            std::mem::take(&mut *woken.lock().unwrap())
        };
        thread::spawn(run).join().unwrap()
    }

    #[test]
    fn the_order_of_wakes_is_the_one_drawn() {
        assert_eq!(order(|_| 0), (0..10).collect::<Vec<_>>());
        std::thread_local!(static LAST: std::cell::Cell<u32> = const { std::cell::Cell::new(0) });
        let down = |bound| {
            assert_eq!(bound, 8);
            LAST.set((LAST.get() + bound - 1) % bound);
            LAST.get()
        };
        assert_eq!(order(down), [7, 6, 5, 4, 3, 2, 1, 9, 0, 8]);
    }
}
