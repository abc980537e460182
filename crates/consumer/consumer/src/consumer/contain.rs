//! The one place that calls what the user wrote: the handler, what takes the dead letters, the key of a record, the text of an
//! error; and that drops what these have made.
//!
//! A panic ends here, and is the text of an error: what it counts as is said where the user sets the function.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Calls what the user wrote. The error is what it said when it panicked.
pub(crate) fn contain<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(text)
}

/// Drops values that hold what the user has made, one by one: a second panic while one unwinds would end the process.
pub(crate) fn drop_each<T>(values: impl IntoIterator<Item = T>) {
    let mut values = values.into_iter();
    while contain(|| values.by_ref().for_each(drop)).is_err() {}
}

/// The text of an error, which is dropped. If either panics, that.
pub(crate) fn text_of(error: impl ToString) -> String {
    contain(move || error.to_string()).unwrap_or_else(|panic| panic)
}

/// Polls a future that the user wrote, and drops it when it is ready, when it has panicked, or when this is dropped. `on_wait`
/// is called when it waits.
pub(crate) struct Contained<'a, F, W: FnMut()> {
    pub(crate) future: Pin<&'a mut Option<F>>,
    pub(crate) on_wait: W,
}

impl<F: Future, W: FnMut()> Future for Contained<'_, F, W> {
    type Output = Result<F::Output, String>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let Some(future) = this.future.as_mut().as_pin_mut() else {
            return Poll::Ready(Err("was polled after its end".to_owned()));
        };
        let output = match contain(|| future.poll(cx)) {
            Ok(Poll::Pending) => {
                (this.on_wait)();
                return Poll::Pending;
            }
            Ok(Poll::Ready(output)) => Ok(output),
            Err(panic) => Err(panic),
        };
        let dropped = contain(|| this.future.set(None));
        Poll::Ready(output.and_then(|output| dropped.map(|()| output)))
    }
}

impl<F, W: FnMut()> Drop for Contained<'_, F, W> {
    fn drop(&mut self) {
        // The call has failed already, or its partition has gone.
        let _ = contain(|| self.future.set(None));
    }
}

// The future is behind a pointer.
impl<F, W: FnMut()> Unpin for Contained<'_, F, W> {}

/// What a panic said.
fn text(panic: Box<dyn Any + Send>) -> String {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("with a value");
    let text = format!("panicked: {words}");
    // The value is the user's too. One whose destructor panics is not dropped again.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(panic))).map_err(std::mem::forget);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::Waker;

    struct Bomb(&'static str);

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("{}", self.0);
        }
    }

    fn poll<F: Future>(future: F) -> Poll<Result<F::Output, String>> {
        let mut slot = pin!(Some(future));
        let mut contained = Contained { future: slot.as_mut(), on_wait: || () };
        Pin::new(&mut contained).poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn panics_of_calls_futures_destructors_and_payloads_are_texts() {
        assert_eq!(contain(|| 7), Ok(7));
        assert_eq!(contain(|| panic!("one")), Err::<(), _>("panicked: one".to_owned()));
        let with_bomb = contain(|| std::panic::panic_any(Bomb("two")));
        assert_eq!(with_bomb, Err::<(), _>("panicked: with a value".to_owned()));
        assert_eq!(poll(async { 8 }), Poll::Ready(Ok(8)));
        let polled = poll(async { panic!("three") });
        assert_eq!(polled, Poll::Ready(Err::<(), _>("panicked: three".to_owned())));
        // A ready future keeps what it has captured until it is dropped.
        let bomb = Bomb("four");
        let polled = poll(std::future::poll_fn(move |_| {
            let _ = &bomb;
            Poll::Ready(())
        }));
        assert_eq!(polled, Poll::Ready(Err("panicked: four".to_owned())));
        let bomb = Bomb("five");
        let polled = poll(async move {
            let _bomb = bomb;
            std::future::pending::<()>().await;
        });
        assert_eq!(polled, Poll::Pending, "and its end is contained");
    }
}
