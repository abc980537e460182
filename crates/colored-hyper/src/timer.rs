//! [`ColoredTimer`]: hyper's clock.

use colored::time::{self, Duration};
use hyper::rt::{Sleep, Timer};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

/// Gives hyper the timers of the runtime.
///
/// A hyper builder without a timer has no time-outs. In particular, the time-out for reading the
/// headers of a request, which keeps slow clients from holding connections for ever, is then silently
/// off. [`serve`](crate::serve()) and [`client`](crate::client()) always set this one.
///
/// Costs one allocation for each timer that hyper makes, and an entry in the timer wheel when the timer
/// has to wait; the next timer of the same connection mostly reuses that entry.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColoredTimer;

impl Timer for ColoredTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(ColoredSleep(time::sleep(duration)))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(ColoredSleep(time::sleep_until(deadline)))
    }

    fn now(&self) -> Instant {
        time::Instant::now().into_std()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, deadline: Instant) {
        match sleep.as_mut().downcast_mut_pin::<ColoredSleep>() {
            Some(own) => Pin::new(&mut own.get_mut().0).reset(deadline),
            None => *sleep = self.sleep_until(deadline),
        }
    }
}

/// A type of this crate, for hyper's trait.
struct ColoredSleep(time::Sleep);

impl Sleep for ColoredSleep {}

impl Future for ColoredSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.get_mut().0).poll(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reset_moves_the_sleep_and_keeps_its_allocation() {
        let runtime = colored::Runtime::builder().workers(1).build().unwrap();
        runtime.block_on(async {
            let start = Instant::now();
            let mut sleep = ColoredTimer.sleep(Duration::from_secs(3600));
            let place: *const dyn Sleep = &*sleep;
            ColoredTimer.reset(&mut sleep, start + Duration::from_millis(20));
            assert!(std::ptr::addr_eq(place, &*sleep));
            sleep.await;
            let waited = start.elapsed();
            assert!(waited >= Duration::from_millis(20) && waited < Duration::from_secs(60));
        });
    }
}
