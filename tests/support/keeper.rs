//! Sections that hold a color, and wait for nothing that another task does.

use colored::sync::oneshot::{self, Sender};
use colored::{Color, JoinHandle, exclusive, spawn_colored};

/// A section that holds `color` from when this returns until something is sent.
pub(crate) async fn hold(color: impl Into<Color>) -> (Sender<()>, JoinHandle<()>) {
    let (begin, begun) = oneshot::channel();
    let (release, released) = oneshot::channel();
    let section = async move {
        begin.send(()).unwrap();
        released.await.unwrap();
    };
    let keeper = spawn_colored(color, exclusive(section));
    begun.await.unwrap();
    (release, keeper)
}
