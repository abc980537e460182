//! Holding a color, so that work that is scheduled on it queues in a known order.

use colored::{Color, Handle, JoinHandle};
use std::sync::mpsc::{self, Sender};

/// A color that one poll holds until the gate is opened.
pub struct Gate {
    open: Sender<()>,
    poll: JoinHandle<()>,
}

impl Gate {
    /// Holds `color` from when this returns. Takes a worker for that long.
    pub fn close(handle: &Handle, color: impl Into<Color>) -> Self {
        let (begun, begins) = mpsc::channel();
        let (open, opened) = mpsc::channel();
        let poll = handle.spawn_colored(color, async move {
            begun.send(()).expect("the maker waits");
            opened.recv().expect("a gate is opened, not dropped");
        });
        begins.recv().expect("the poll begins");
        Self { open, poll }
    }

    /// Ends the poll.
    pub fn open(self) {
        self.open.send(()).expect("the poll waits");
        drop(self.poll);
    }
}
