//! The driver of a consumer by hand: polls the member on `colored`, hands the batches over, and commits.

use super::log::Log;
use super::progress::Progress;
use super::{Batches, HELD};
use crate::executors::Executor;
use colored::time::{Duration, Instant, sleep};
use colored_benches::Runtimes;
use colored_consumer::embedded::Member;
use colored_consumer::{Commit, Committed, Control, Event, Owned, Record, Room, Source};
use std::sync::Arc;
use tokio::sync::mpsc;

/// As ours does it by default.
const COMMIT_EVERY: Duration = Duration::from_millis(500);

/// Runs a consumer until all records of the log are done.
pub(super) fn consume<E, C, F>(runtimes: Runtimes, on: E, log: &Log, consumer: C)
where
    E: Executor,
    C: FnOnce(Batches, Arc<Progress>) -> F + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let (member, count) = (log.join(runtimes.unique()), log.count);
    let (progress, (sender, batches)) = (Arc::new(Progress::new()), mpsc::channel(4));
    let feed = Feed { member, owned: Vec::new(), progress: Arc::clone(&progress), sender };
    let fed = std::thread::spawn(move || runtimes.unique().run(feed.run(count)));
    on.run(async move { consumer(batches, progress).await });
    fed.join().expect("the feed does not panic");
}

struct Feed {
    member: Member,
    owned: Vec<Owned>,
    progress: Arc<Progress>,
    sender: mpsc::Sender<Vec<Record>>,
}

impl Feed {
    /// Ends when so many records are done; the channel ends when all are read.
    async fn run(mut self, count: u64) {
        let (mut polled, mut commit) = (0, Instant::now() + COMMIT_EVERY);
        while polled < count {
            // The others are in the channel, or held by the consumer.
            let held = (polled - self.progress.total()) as usize;
            if held >= HELD {
                sleep(Duration::from_millis(1)).await;
            } else {
                polled += self.poll(HELD - held).await;
            }
            self.commit(&mut commit).await;
        }
        let Feed { sender, .. } = &mut self;
        *sender = mpsc::channel(1).0;
        while self.progress.total() < count {
            sleep(Duration::from_millis(1)).await;
            self.commit(&mut commit).await;
        }
        self.commit(&mut Instant::now()).await;
        self.member.close().await.expect("the engine works");
    }

    /// Returns how many records have come.
    async fn poll(&mut self, records: usize) -> u64 {
        match self.member.poll(Room { records, bytes: 64 << 20 }).await {
            Ok(Event::Assigned(all)) => {
                for assignment in all {
                    self.member.begin(&assignment.owned, assignment.log.start);
                    self.owned.push(assignment.owned);
                }
            }
            Ok(Event::Records { records, .. }) => {
                let count = records.len() as u64;
                self.sender.send(records).await.expect("the consumer takes all");
                return count;
            }
            other => panic!("{other:?} comes in a rebalance, and there is none"),
        }
        0
    }

    async fn commit(&mut self, due: &mut Instant) {
        if Instant::now() < *due {
            return;
        }
        *due += COMMIT_EVERY;
        let commits = self.owned.iter().map(|owned| {
            let offset = self.progress.low(owned.partition.partition);
            Commit { owned: owned.clone(), committed: Committed { offset, ..Committed::default() } }
        });
        self.member.control().commit(commits.collect()).await.expect("the engine works");
    }
}
