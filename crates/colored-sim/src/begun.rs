//! A thread that begins with what its caller lends it, and goes on without.

use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{self, Builder};
use std::time::Duration;

/// Waits until all that was lent is back.
struct LentUntil(Receiver<()>);

impl Drop for LentUntil {
    fn drop(&mut self) {
        // Nobody sends: the sender is dropped.
        let _ = self.0.recv();
    }
}

/// Starts a thread that runs `begin` and then `go_on`, and returns what comes of it. Asks `is_given_up` each time that it has
/// waited for so long: then the thread is left alone, once `begin` is over, and there is no result.
///
/// # Errors
///
/// The system's, if there is no thread.
pub fn begin_and_go_on<B, T>(
    builder: Builder,
    begin: impl FnOnce() -> B + Send,
    go_on: impl FnOnce(B) -> T + Send + 'static,
    wait: Duration,
    mut is_given_up: impl FnMut() -> bool,
) -> io::Result<Option<thread::Result<T>>>
where
    B: 'static,
    T: Send + 'static,
{
    let ((begun, has_begun), (ended, has_ended)) = (channel::<()>(), channel::<()>());
    // The caller may use what it has lent while this thread still runs: so no function that runs then has it as an argument.
    let begin = MaybeUninit::new(begin);
    let body = move || {
        let _ended = ended;
        // SAFETY: it was made above, and is taken out once.
        let run = || catch_unwind(AssertUnwindSafe(unsafe { begin.assume_init() }));
        let result = run();
        // All that was lent is back.
        drop(begun);
        go_on(result.unwrap_or_else(|panic| resume_unwind(panic)))
    };
    // SAFETY: what `begin` borrows lives until this function is left, and each way out of it, a panic too, drops the value below.
    // That waits until `begin` has been run and dropped; its result, and all else that the thread has, is `'static`. If
    // there is no thread, nothing runs.
    let thread = unsafe { builder.spawn_unchecked(body) }?;
    let _lent = LentUntil(has_begun);
    while has_ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        if is_given_up() {
            return Ok(None);
        }
    }
    Ok(Some(thread.join()))
}

#[cfg(test)]
mod tests {
    use super::begin_and_go_on;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc::channel;
    use std::thread::{Builder, sleep};
    use std::time::Duration;

    const WAIT: Duration = Duration::from_millis(1);

    #[test]
    fn what_is_lent_is_back_though_the_thread_never_ends() {
        let mut lent = vec![1];
        let (_never, told) = channel::<()>();
        let begin = || {
            sleep(50 * WAIT);
            lent.push(2);
        };
        let go_on = move |()| told.recv().unwrap();
        let ended = begin_and_go_on(Builder::new(), begin, go_on, WAIT, || true);
        assert!(ended.unwrap().is_none());
        assert_eq!(lent, [1, 2]);
    }

    #[test]
    fn what_is_lent_is_back_behind_a_panic() {
        let mut lent = vec![1];
        let begin = || {
            sleep(50 * WAIT);
            lent.push(2);
        };
        let never = || -> bool { panic!("of the watch") };
        let watched =
            AssertUnwindSafe(|| begin_and_go_on(Builder::new(), begin, |()| (), WAIT, never));
        assert!(catch_unwind(watched).is_err());
        assert_eq!(lent, [1, 2]);
    }

    #[test]
    fn the_result_is_that_of_both_parts() {
        let lent = String::from("of the begin");
        let run = |begin: &(dyn Fn() -> usize + Sync)| {
            let ended = begin_and_go_on(Builder::new(), begin, |length| length + 1, WAIT, || false);
            ended.unwrap().expect("nobody gives it up")
        };
        assert_eq!(run(&|| lent.len()).unwrap(), 13);
        let panic = run(&|| panic!("{lent}")).unwrap_err();
        assert_eq!(panic.downcast_ref::<String>(), Some(&lent));
    }
}
