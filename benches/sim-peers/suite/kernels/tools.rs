//! What the kernels are written with: variables, condition variables, wait groups and channels without room.

use colored::sync::{Mutex, MutexGuard, mpsc, oneshot, watch};
use colored::task::consume_budget;
use colored::{Color, ColorCell, JoinHandle, spawn_unique};
use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::sync::Arc;

/// Starts a thread of the kernel: a task of a color of its own.
pub(super) fn go<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    spawn_unique(future)
}

/// Waits for all of these threads. The panic of one is the caller's.
pub(super) async fn join(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    for thread in threads {
        // Without another message: the report shows the first one.
        thread.await.unwrap_or_else(|error| resume_unwind(Box::new(error.to_string())));
    }
}

/// A variable of several threads: each access is a turn of the variable's color.
pub(super) struct Shared<T: Send + 'static>(ColorCell<T>);

impl<T: Send + 'static> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Clone + Send + 'static> Shared<T> {
    pub(super) fn new(value: T) -> Self {
        Self(ColorCell::new(Color::unique(), value))
    }

    pub(super) async fn get(&self) -> T {
        self.0.call(|value| value.clone()).await
    }

    pub(super) async fn set(&self, new: T) {
        self.0.call(move |value| *value = new).await;
    }

    /// One access that reads and writes, as an atomic operation does.
    pub(super) async fn update<R: Send + 'static>(
        &self,
        update: impl FnOnce(&mut T) -> R + Send + 'static,
    ) -> R {
        self.0.call(update).await
    }
}

/// A condition variable: a signal without a waiter is lost.
#[derive(Clone, Default)]
pub(super) struct Condition(Arc<std::sync::Mutex<VecDeque<oneshot::Sender<()>>>>);

impl Condition {
    /// Gives the lock up, waits for a signal, and takes the lock again. The turn may end before that.
    pub(super) async fn wait<'a, T>(
        &self,
        mutex: &'a Mutex<T>,
        guard: MutexGuard<'a, T>,
    ) -> MutexGuard<'a, T> {
        consume_budget().await;
        let (signal, signaled) = oneshot::channel();
        self.0.lock().unwrap().push_back(signal);
        drop(guard);
        let _ = signaled.await;
        mutex.lock().await
    }

    pub(super) fn signal(&self) {
        if let Some(first) = self.0.lock().unwrap().pop_front() {
            let _ = first.send(());
        }
    }

    pub(super) fn broadcast(&self) {
        self.0.lock().unwrap().clear();
    }
}

/// A counter that threads wait for to be zero.
#[derive(Clone)]
pub(super) struct WaitGroup(Arc<watch::Sender<usize>>);

impl WaitGroup {
    pub(super) fn new(count: usize) -> Self {
        Self(Arc::new(watch::channel(count).0))
    }

    /// Adds to the counter. The turn may end before that.
    pub(super) async fn add(&self, count: usize) {
        consume_budget().await;
        self.0.send_modify(|of| *of += count);
    }

    pub(super) fn done(&self) {
        self.0.send_modify(|of| *of -= 1);
    }

    pub(super) async fn wait(&self) {
        let mut count = self.0.subscribe();
        let _ = count.wait_for(|count| *count == 0).await;
    }
}

/// The sender of a channel without room: `send` ends when the message has been received.
pub(super) struct Sender<T>(mpsc::Sender<(T, oneshot::Sender<()>)>);

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

pub(super) struct Receiver<T>(mpsc::Receiver<(T, oneshot::Sender<()>)>);

/// A channel without room.
pub(super) fn unbuffered<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::channel(1);
    (Sender(sender), Receiver(receiver))
}

impl<T> Sender<T> {
    /// Whether somebody has received the message; else all receivers are gone.
    pub(super) async fn send(&self, message: T) -> bool {
        let (taken, is_taken) = oneshot::channel();
        self.0.send((message, taken)).await.is_ok() && is_taken.await.is_ok()
    }
}

impl<T> Receiver<T> {
    /// The next message, or `None` if all senders are gone.
    pub(super) async fn recv(&mut self) -> Option<T> {
        let (message, taken) = self.0.recv().await?;
        let _ = taken.send(());
        Some(message)
    }

    /// Receives a message that waits. Whether there was one.
    pub(super) fn try_recv(&mut self) -> bool {
        self.0.try_recv().map(|(_, taken)| taken.send(())).is_ok()
    }
}
