//! [`ColoredExecutor`]: the color of hyper's own tasks.

pub(crate) mod unread;

use self::unread::Limited;
use colored::{Color, spawn, spawn_colored, spawn_here, spawn_unique};
use hyper::rt::Executor;

/// Spawns the tasks that hyper makes by itself, under a color of the caller's choice.
///
/// On a server these tasks are the requests of an HTTP/2 connection, one task each; HTTP/1 needs none.
/// On a client they are the connections of the pool.
///
/// # Panics
///
/// [`execute`](Executor::execute) panics outside a runtime.
#[derive(Clone, Copy, Debug)]
pub struct ColoredExecutor(Choice);

#[derive(Clone, Copy, Debug)]
enum Choice {
    Here,
    Unique,
    Fixed(Color),
}

impl ColoredExecutor {
    /// Spawns under the color of the caller, which on a server is the color of the connection: the
    /// requests of one HTTP/2 connection then never overlap. Without a current color, spawns under the
    /// default one.
    #[must_use]
    pub const fn here() -> ColoredExecutor {
        ColoredExecutor(Choice::Here)
    }

    /// Spawns each task under a fresh color of its own, in parallel with everything.
    #[must_use]
    pub const fn unique() -> ColoredExecutor {
        ColoredExecutor(Choice::Unique)
    }

    /// Spawns all tasks under `color`.
    #[must_use]
    pub const fn fixed(color: Color) -> ColoredExecutor {
        ColoredExecutor(Choice::Fixed(color))
    }
}

impl<F> Executor<F> for ColoredExecutor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, future: F) {
        let future = Limited::new(future);
        let task = match self.0 {
            Choice::Here if Color::current().is_some() => spawn_here(future),
            Choice::Here => spawn(future),
            Choice::Unique => spawn_unique(future),
            Choice::Fixed(color) => spawn_colored(color, future),
        };
        // hyper waits for its tasks by other means.
        drop(task);
    }
}
