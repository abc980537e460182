//! A task for each key, with a mailbox, which lives to the end. A semaphore bounds how many handle at a time.

use super::progress::Progress;
use super::{AT_ONCE, Batches, Work};
use crate::executors::Timed;
use colored_consumer::Record;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc};

/// What the actors share.
struct Shared {
    places: Semaphore,
    progress: Arc<Progress>,
    work: Work,
}

pub(super) async fn consume(
    on: impl Timed,
    mut batches: Batches,
    work: Work,
    progress: Arc<Progress>,
) {
    let shared = Arc::new(Shared { places: Semaphore::new(AT_ONCE), progress, work });
    let (mut actors, mut handles) = (HashMap::new(), Vec::new());
    while let Some(records) = batches.recv().await {
        for record in records {
            let actor = actors.entry(record.key.clone()).or_insert_with(|| {
                // The feed bounds what all mailboxes hold.
                let (actor, mailbox) = mpsc::unbounded_channel();
                handles.push(on.spawn(handle_all(on, mailbox, Arc::clone(&shared))));
                actor
            });
            assert!(actor.send(record).is_ok(), "the actor takes all");
        }
    }
    drop(actors);
    for handle in handles {
        handle.await;
    }
}

async fn handle_all(
    on: impl Timed,
    mut mailbox: mpsc::UnboundedReceiver<Record>,
    shared: Arc<Shared>,
) {
    while let Some(record) = mailbox.recv().await {
        let place = shared.places.acquire().await.expect("it is never closed");
        shared.work.run(on).await;
        drop(place);
        shared.progress.finish(&record);
    }
}
