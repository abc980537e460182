//! A section that holds a color, and waits for nothing but its end.

use colored::sync::oneshot::{self, Sender};
use colored::{Color, JoinHandle, exclusive, spawn_colored};

/// Holds a color until its end is requested.
pub struct Keeper {
    /// Ends the section.
    pub end: Sender<()>,
    /// Ends with the section.
    pub task: JoinHandle<()>,
}

impl Keeper {
    /// Holds `color` from when this returns.
    pub async fn of(color: impl Into<Color>) -> Self {
        let ((begin, begun), (end, ended)) = (oneshot::channel(), oneshot::channel());
        let section = async move {
            begin.send(()).unwrap();
            ended.await.unwrap();
        };
        let task = spawn_colored(color, exclusive(section));
        begun.await.unwrap();
        Self { end, task }
    }

    /// Ends the section, and waits for that.
    pub async fn release(self) {
        self.end.send(()).unwrap();
        self.task.await.unwrap();
    }
}
