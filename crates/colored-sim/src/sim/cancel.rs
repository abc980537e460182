//! [`cancellable`]: each await of a future is cancelled once. [`Waits`]: so does a time that is waited for.

use super::control::with;
use super::faults::Fault;
use super::process_faults::LONGEST;
use super::run::{number_of_place, tell};
use super::turns;
use pin_project_lite::pin_project;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// An await that was cancelled before is cancelled again once in so many times.
const ONE_IN: u32 = 32;

/// Runs a future that may be cancelled at any await, as by `select!`, by a time-out or by an abort. In a simulation it is:
/// the future is dropped when it waits, and the result is `None`. Outside of one, the result is always `Some`.
///
/// Of the runs of a simulation, each cancels one await that none before it has cancelled, for as long as there are such: the
/// future is dropped when it has waited once, in another run when it has waited twice, and so on. Later awaits, and those that
/// were cancelled before, are cancelled at random, once in 32 times. Each is a choice: a replay repeats it, and the report
/// names the place and the await. [`Report::cancelled`](super::Report::cancelled) says how many awaits were cancelled; an
/// exhaustive search cancels none.
///
/// An await, here, is a poll that is not ready. Two futures from one place in the program count as one.
///
/// Cancel safe if the future is. Panics as the future does. Costs some nanoseconds a poll outside of a simulation.
///
/// ```
/// use colored::{ColorCell, sim, spawn_colored, yield_now};
///
/// let report = sim::Builder::new().run(|| async {
///     let idle = ColorCell::new(1, vec!["a connection"]);
///     let pool = idle.clone();
///     let client = spawn_colored(2, async move {
///         sim::cancellable(async {
///             let taken = pool.call(|idle| idle.pop()).await.unwrap();
///             yield_now().await;
///             pool.call(|idle| idle.push(taken)).await;
///         })
///         .await
///     });
///     client.await.unwrap();
///     sim::always!(idle.call(|idle| idle.len()).await == 1, "the connection comes back");
/// });
/// // If the client is cancelled while it has the connection, nobody gives the connection back.
/// let failure = report.failure().expect("it is found");
/// assert!(failure.to_string().contains("cancelled at await"), "{failure}");
/// ```
#[track_caller]
pub fn cancellable<F: Future>(future: F) -> Cancellable<F> {
    Cancellable { future: Some(future), at: Location::caller(), awaits: 0 }
}

pin_project! {
    /// The future of [`cancellable`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless awaited"]
    pub struct Cancellable<F> {
        #[pin]
        future: Option<F>,
        at: &'static Location<'static>,
        awaits: u64,
    }
}

impl<F: Future> Future for Cancellable<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let Some(future) = this.future.as_mut().as_pin_mut() else {
            panic!("`cancellable` at {} is polled after it was ready", this.at)
        };
        if let Poll::Ready(output) = future.poll(cx) {
            this.future.set(None);
            return Poll::Ready(Some(output));
        }
        *this.awaits += 1;
        let (at, number) = (*this.at, *this.awaits);
        if !is_cancelled(at, number, ONE_IN) {
            return Poll::Pending;
        }
        tell(&|| format!("cancelled at await {number} of `cancellable` at {at}"));
        this.future.set(None);
        Poll::Ready(None)
    }
}

/// How often something has waited that goes by a time, such as a sleep. It belongs to the runtime's timers.
#[derive(Clone, Copy, Debug)]
pub struct Waits {
    at: &'static Location<'static>,
    number: u64,
}

impl Waits {
    /// Of what is made at the place of the caller.
    #[must_use]
    #[track_caller]
    pub fn here() -> Self {
        Self { at: Location::caller(), number: 0 }
    }

    /// To be called where it waits, with its time, in nanoseconds of the clock. True if that time has come now, by a
    /// [fault](super::Fault::Expiry).
    pub fn are_over(&mut self, due: u64) -> bool {
        if !turns::is_inside() {
            return false;
        }
        let Some((one_in, now)) =
            with(|run| (run.world.one_in(Fault::Expiry), run.world.now())).filter(|of| of.0 > 0)
        else {
            return false;
        };
        let passes = due.saturating_sub(now);
        if passes == 0 {
            // Another one has let the time pass in this turn, behind which this one is woken.
            return false;
        }
        self.number += 1;
        let Self { at, number } = *self;
        if passes > LONGEST || !is_cancelled(at, number, one_in) {
            return false;
        }
        let passes = Duration::from_nanos(passes);
        tell(&|| format!("{passes:?} pass at wait {number} of the sleep or time-out at {at}"));
        turns::pass_time(due);
        true
    }

    /// It gets another time.
    pub fn begin_anew(&mut self) {
        self.number = 0;
    }
}

/// Whether this await is cancelled: a choice.
fn is_cancelled(at: &'static Location<'static>, number: u64, one_in: u32) -> bool {
    let place = number_of_place(at);
    let is_cancelled = with(|run| {
        let is_due = !run.has_cancelled && run.noted.is_new((place, number));
        let is_cancelled = run.choices.happens_in_program(place, number, is_due, one_in);
        if is_cancelled {
            let is_first = run.noted.is_new((place, number));
            if is_first {
                run.noted.cancelled.insert((place, number));
            }
            run.has_cancelled |= is_first;
        }
        is_cancelled
    });
    is_cancelled == Some(true)
}
