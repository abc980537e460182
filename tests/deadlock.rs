//! Waits that cannot end, and waits that can.

mod crossings;
mod cycles;
mod deadlock_free;
mod kept;
mod older;
mod room;
mod waits_as_errors;

use colored::sync::oneshot;
use colored::{Color, JoinError, JoinHandle, spawn_colored};
use colored_tests::polls::{once, that_waits};
use std::pin::pin;
use std::sync::mpsc;

/// Blocks a color's line without a section, until the sender is used.
async fn block(color: impl Into<Color>) -> (mpsc::Sender<()>, JoinHandle<()>) {
    let (block, blocked) = mpsc::channel::<()>();
    let (stuck, is_stuck) = oneshot::channel();
    let busy = spawn_colored(color, async move {
        stuck.send(()).unwrap();
        blocked.recv().unwrap();
    });
    is_stuck.await.unwrap();
    (block, busy)
}

/// Spawns a task, and returns when it has been polled, and waits.
async fn spawn_waiting<F>(color: impl Into<Color>, future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let (tell, told) = oneshot::channel();
    let task = spawn_colored(color, tell_when_it_waits(future, tell));
    told.await.unwrap();
    task
}

/// The future, which has to wait at its first poll, and gives the sign then.
async fn tell_when_it_waits<F: Future>(future: F, tell: oneshot::Sender<()>) -> F::Output {
    let future = that_waits(future).await;
    tell.send(()).unwrap();
    future.await
}

/// Joins the task, and gives the sign while it waits for that. Returns the error of the join, and the task.
async fn join_and_tell<T>(
    mut task: JoinHandle<T>,
    tell: oneshot::Sender<()>,
) -> (JoinError, JoinHandle<T>) {
    assert!(once(pin!(&mut task)).await.is_pending());
    tell.send(()).unwrap();
    let error = (&mut task).await.map(drop).unwrap_err();
    (error, task)
}
