//! A task for each partition, which handles its records one after the other.

use super::progress::Progress;
use super::{Batches, Work};
use crate::executors::Timed;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::mpsc;

pub(super) async fn consume(
    on: impl Timed,
    mut batches: Batches,
    work: Work,
    progress: Arc<Progress>,
) {
    let (mut tasks, mut handles) = (HashMap::new(), Vec::new());
    while let Some(records) = batches.recv().await {
        let partition = records[0].partition;
        let task = tasks.entry(partition).or_insert_with(|| {
            // A partition has few batches at a time: 1,500 records are in one.
            let (task, own) = mpsc::channel(16);
            handles.push(on.spawn(handle_all(on, own, work, Arc::clone(&progress))));
            task
        });
        assert!(task.send(records).await.is_ok(), "the task takes all");
    }
    drop(tasks);
    for handle in handles {
        handle.await;
    }
}

async fn handle_all(on: impl Timed, mut batches: Batches, work: Work, progress: Arc<Progress>) {
    while let Some(records) = batches.recv().await {
        for record in records {
            work.run(on).await;
            progress.finish(&record);
        }
    }
}
