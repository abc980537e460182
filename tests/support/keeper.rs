//! A section that holds a color, and waits for nothing but its end.

use colored::sync::oneshot::{self, Sender};
use colored::{Color, JoinHandle, exclusive, spawn_colored};

/// Holds a color until its end is requested.
pub struct Keeper<T = (), R = ()> {
    /// Ends the section, or begins the rest of it.
    pub end: Sender<T>,
    /// Ends with the section.
    pub task: JoinHandle<R>,
}

impl<T: Send + 'static, R: Send + 'static> Keeper<T, R> {
    /// Holds `color` from when this returns. What is sent to `end` goes to `rest`, which makes the rest of the section.
    pub async fn before<F>(
        color: impl Into<Color>,
        rest: impl FnOnce(T) -> F + Send + 'static,
    ) -> Self
    where
        F: Future<Output = R> + Send + 'static,
    {
        let ((begin, begun), (end, ended)) = (oneshot::channel(), oneshot::channel());
        let section = async move {
            begin.send(()).unwrap();
            rest(ended.await.unwrap()).await
        };
        let task = spawn_colored(color, exclusive(section));
        begun.await.unwrap();
        Self { end, task }
    }
}

impl Keeper {
    /// Holds `color` from when this returns.
    pub async fn of(color: impl Into<Color>) -> Self {
        Self::before(color, |()| async {}).await
    }

    /// Ends the section, and waits for that.
    pub async fn release(self) {
        self.end.send(()).unwrap();
        self.task.await.unwrap();
    }
}
