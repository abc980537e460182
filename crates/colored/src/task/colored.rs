//! [`FutureExt`]: a future that carries its color.

use super::with_handle;
use colored_core::{Color, JoinHandle};
use std::panic::{self, Location};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::{fmt, mem};

/// Gives a future a color: `future.colored(color)`.
pub trait FutureExt: Future + Sized {
    /// Returns a future that runs this one under `color`, in a task of its own, and waits for its output. Code that does
    /// not know the color can await it, join it, or drop it.
    ///
    /// The first poll spawns the task, as [`spawn_colored`](super::spawn_colored) does. So the **order** of two such
    /// futures of one color is the order of their first polls, and each runs behind what is scheduled under `color` by
    /// then. This also holds where the caller runs under `color` itself. A future that must have its place in the order
    /// before it is awaited is spawned instead: `spawn_colored(color, future)`.
    ///
    /// Not cancel safe: a drop after the first poll aborts the task, whose future is dropped under `color` at its next
    /// turn. The drop does not wait for that. Before the first poll there is no task, and this future is dropped by
    /// whoever drops the new one.
    ///
    /// Costs a spawn and a join: one allocation, a look-up in the table of colors, and two wakes.
    ///
    /// ```
    /// use colored::Color;
    /// use colored::task::FutureExt as _;
    ///
    /// # #[colored::main(workers = 2)]
    /// # async fn main() {
    /// let index = Color::named("index");
    /// let (a, b) = colored::join!(
    ///     async { Color::current() }.colored(index),
    ///     async { Color::current() },
    /// );
    /// assert_eq!((a, b), (Some(index), Some(Color::DEFAULT)));
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// A poll panics
    ///
    /// * with the panic of the future, if that one panics;
    /// * outside a runtime, if it is the first poll;
    /// * if the runtime of the task has shut down;
    /// * if the task waits for an [`exclusive`](crate::exclusive()) section that waits for it, with the list of these waits;
    /// * after the output has been returned, or a poll has panicked.
    ///
    /// The handle that `spawn_colored` returns has errors in place of most of these panics.
    #[track_caller]
    fn colored(self, color: impl Into<Color>) -> Colored<Self, Self::Output>
    where
        Self: Send + 'static, // no `Rc`, no `RefCell`: use a `ColorCell`, or `spawn_local`
        Self::Output: Send + 'static,
    {
        Colored {
            color: color.into(),
            site: Location::caller(),
            state: State::Future(self, spawn_at),
        }
    }
}

impl<F: Future> FutureExt for F {}

/// The future of [`FutureExt::colored`].
#[must_use = "futures do nothing unless awaited"]
pub struct Colored<F, T> {
    color: Color,
    site: &'static Location<'static>,
    state: State<F, T>,
}

enum State<F, T> {
    /// Before the first poll. The function has the bounds of `FutureExt::colored`; the compiler cannot always prove them
    /// again where it proves that a future with this one in it is `Send`.
    Future(F, Spawn<F, T>),
    Task(JoinHandle<T>),
    Done,
}

type Spawn<F, T> = fn(&'static Location<'static>, Color, F) -> JoinHandle<T>;

fn spawn_at<F>(site: &'static Location<'static>, color: Color, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    with_handle("colored", |handle| handle.spawn_colored_from(site, color, future))
}

// The future moves into its task before its first poll, and is pinned there.
impl<F, T> Unpin for Colored<F, T> {}

impl<F, T> Future for Colored<F, T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        if matches!(this.state, State::Future(..))
            && let State::Future(future, spawn) = mem::replace(&mut this.state, State::Done)
        {
            this.state = State::Task(spawn(this.site, this.color, future));
        }
        let State::Task(task) = &mut this.state else {
            panic!("the future of `colored` at {} was polled again after its end", this.site)
        };
        let result = ready!(Pin::new(task).poll(cx));
        this.state = State::Done;
        match result {
            Ok(output) => Poll::Ready(output),
            Err(error) => match error.try_into_panic() {
                Ok(payload) => panic::resume_unwind(payload),
                Err(error) => panic!("the future of `colored` at {}: {error}", this.site),
            },
        }
    }
}

impl<F, T> Drop for Colored<F, T> {
    fn drop(&mut self) {
        if let State::Task(task) = &self.state {
            task.abort();
        }
    }
}

impl<F, T> fmt::Debug for Colored<F, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Colored").field("color", &self.color).finish_non_exhaustive()
    }
}
