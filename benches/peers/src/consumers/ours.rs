//! [`Consumer`].

use super::log::Log;
use super::{AT_ONCE, HELD, Work};
use crate::executors::Executor;
use colored::time::{Duration, sleep};
use colored_benches::rivals::Unique;
use colored_consumer::Consumer;

pub(super) fn consume(on: Unique, log: &Log, work: Work) {
    let (member, count) = (log.join(on), log.count);
    on.run(async move {
        let builder = Consumer::builder(member).concurrency(AT_ONCE).records(HELD);
        let consumer = builder.start(move |_, _| async move {
            work.run(on).await;
            Ok(())
        });
        let consumer = consumer.expect("the settings are good");
        // Looking at the count costs time itself.
        if let Work::Sleep { bound, .. } = work {
            sleep(bound).await;
        }
        while consumer.metrics().await.done < count {
            sleep(Duration::from_millis(1)).await;
        }
        consumer.stop().await.expect("the engine works");
    });
}
