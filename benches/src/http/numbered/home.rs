//! Where the requests of a connection run: how often on the worker that ran the one before.

use super::answer_async;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use tokio::io::{AsyncRead, AsyncWrite};

/// Polls of connections, without the first of each, and those on another worker than the one before.
static POLLS: AtomicU64 = AtomicU64::new(0);
static MOVES: AtomicU64 = AtomicU64::new(0);

/// The handler, with its polls counted.
pub(super) async fn answer_watched(stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut serves = pin!(answer_async(stream));
    let mut last = None;
    std::future::poll_fn(|cx| {
        let here = thread::current().id();
        // Ordering: these are only counts, read when the load has ended.
        if let Some(last) = last.replace(here) {
            POLLS.fetch_add(1, Ordering::Relaxed);
            MOVES.fetch_add(u64::from(last != here), Ordering::Relaxed);
        }
        serves.as_mut().poll(cx)
    })
    .await;
}

/// The counts by their words.
pub(super) fn number(word: &str) -> Option<u64> {
    // Ordering: as above.
    match word {
        "POLLS" => Some(POLLS.load(Ordering::Relaxed)),
        "MOVES" => Some(MOVES.load(Ordering::Relaxed)),
        _ => None,
    }
}
