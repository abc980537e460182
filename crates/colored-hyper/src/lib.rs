//! hyper on `colored`: interim, replaced by the glue crate's own branch.

use std::pin::Pin;
use std::time::{Duration, Instant};

/// hyper's timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct ColoredTimer;

struct Sleep(colored::time::Sleep);

impl Future for Sleep {
    type Output = ();
    fn poll(
        mut self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx)
    }
}

impl hyper::rt::Sleep for Sleep {}

impl hyper::rt::Timer for ColoredTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(Sleep(colored::time::sleep(duration)))
    }
    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn hyper::rt::Sleep>> {
        Box::pin(Sleep(colored::time::sleep_until(deadline)))
    }
    fn reset(&self, sleep: &mut Pin<Box<dyn hyper::rt::Sleep>>, new_deadline: Instant) {
        if let Some(sleep) = sleep.as_mut().downcast_mut_pin::<Sleep>() {
            Pin::new(&mut sleep.get_mut().0).reset(new_deadline);
        } else {
            *sleep = self.sleep_until(new_deadline);
        }
    }
}
