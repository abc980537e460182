//! [`retry`]: what fails while the ring is in motion is tried again.

use crate::error::Error;
use colored::time::{Duration, Instant, sleep};

/// The pause behind the first attempt. It doubles each time, up to the longest one. Both are guesses: a ring is in motion for
/// some seconds.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// What all asked nodes say counts when they have said it so many times. The pauses add up to 3.1 s, or more.
const ATTEMPTS: u32 = 6;

/// Tries an operation until it succeeds. Gives up when `patience` is used up, and earlier if more attempts are of no use.
/// Cancel safe if the operation is.
pub(crate) async fn retry<T, F>(patience: Duration, operation: impl Fn() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    let begin = Instant::now();
    let (mut answered, mut pause) = (0, FIRST_PAUSE);
    loop {
        let error = match operation().await {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        match error {
            // Nodes did not answer: they are dead, and the ring will find others; or they are slow.
            Error::Lost | Error::NoRing(_) | Error::Unreachable(_) => {}
            Error::NotFound(_) | Error::TooFewCopies { .. } if answered < ATTEMPTS - 1 => {
                answered += 1;
            }
            error => return Err(error),
        }
        let tried = begin.elapsed();
        if tried + pause > patience {
            return Err(Error::GaveUp { tried, why: Box::new(error) });
        }
        sleep(pause).await;
        pause = (2 * pause).min(MAX_PAUSE);
    }
}
