//! A thread that begins with what its caller lends it, and goes on without.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::channel;
use std::thread::{Builder, JoinHandle};

/// Starts a thread that runs `begin` and then `go_on`, and returns when `begin` is over. A thread that never ends may be
/// forgotten, for it has nothing of the caller's then.
///
/// # Errors
///
/// The system's, if there is no thread.
pub fn begin_and_go_on<B, R, T>(
    builder: Builder,
    begin: impl FnOnce() -> B + Send,
    go_on: R,
) -> io::Result<JoinHandle<T>>
where
    B: 'static,
    R: FnOnce(B) -> T + Send + 'static,
    T: Send + 'static,
{
    let (begun, has_begun) = channel::<()>();
    let body = move || {
        let result = catch_unwind(AssertUnwindSafe(begin));
        // All that was lent is gone.
        drop(begun);
        go_on(result.unwrap_or_else(|panic| resume_unwind(panic)))
    };
    // SAFETY: what `begin` borrows lives until this function returns, which waits below until `begin` has been run and dropped;
    // its result and all else that the thread has is `'static`. Without a thread, nothing runs.
    let thread = unsafe { builder.spawn_unchecked(body) }?;
    // Nobody sends: the sender is dropped.
    let _ = has_begun.recv();
    Ok(thread)
}

#[cfg(test)]
mod tests {
    use super::begin_and_go_on;
    use std::sync::mpsc::channel;
    use std::thread::Builder;

    #[test]
    fn what_is_lent_is_back_when_the_thread_goes_on() {
        let mut lent = vec![1];
        let (tell, told) = channel::<()>();
        let begin = || {
            lent.push(2);
            lent.len()
        };
        let thread = begin_and_go_on(Builder::new(), begin, move |length| {
            told.recv().unwrap_err();
            length
        });
        lent.push(3);
        drop(tell);
        assert_eq!((thread.unwrap().join().unwrap(), lent), (2, vec![1, 2, 3]));
    }

    #[test]
    fn a_panic_of_the_begin_is_the_threads() {
        let lent = String::from("of the begin");
        let begin = || -> () { panic!("{lent}") };
        let thread = begin_and_go_on(Builder::new(), begin, |()| ()).unwrap();
        let panic = thread.join().unwrap_err();
        assert_eq!(panic.downcast_ref::<String>(), Some(&lent));
    }
}
