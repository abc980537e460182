//! How long the commit of a record takes.

use crate::side::{Sent, Side};
use colored::time::{Duration, sleep};
use colored_consumer::Consumer;
use futures_util::future::join;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

const HUNDREDS: usize = 1_000;

/// The offsets that are handled and not seen to be committed, with the numbers of their hundreds, by partition.
type Handled = Arc<Mutex<HashMap<u32, BTreeMap<u64, usize>>>>;

/// The commits are looked at each 5 ms, which counts as lag.
pub(crate) async fn lag<S: Side>(side: &S) {
    let (handled, sent) = (Handled::default(), Sent::default());
    let marks = Arc::clone(&handled);
    let consumer = Consumer::builder(side.join().await).start(move |record, _| {
        let number = String::from_utf8_lossy(record.value.as_deref().unwrap_or_default()).parse();
        let mut marks = marks.lock().expect("no handler panics");
        let number = number.expect("it is as it was sent");
        marks.entry(record.partition).or_default().insert(record.offset, number);
        std::future::ready(Ok(()))
    });
    let consumer = consumer.expect("the settings are good");
    let watch = async {
        let mut lags = Vec::new();
        while lags.len() < HUNDREDS * 100 {
            sleep(Duration::from_millis(5)).await;
            let partitions = consumer.metrics().await.partitions;
            let mut handled = handled.lock().expect("no handler panics");
            for of in partitions {
                let Some(marks) = handled.get_mut(&of.partition.partition) else { continue };
                while let Some(first) = marks.first_entry()
                    && *first.key() < of.committed
                    && let Some(at) = sent.at(*first.get())
                {
                    lags.push(at.elapsed());
                    first.remove();
                }
            }
        }
        lags
    };
    let ((), mut lags) = join(sent.send(side, HUNDREDS, Duration::from_millis(10)), watch).await;
    consumer.stop().await.expect("the engine works");
    lags.sort_unstable();
    let [half, most] = [50, 99].map(|part| lags[lags.len() * part / 100].as_secs_f64());
    println!("lag, {}: {half:.3} s in the median, {most:.3} s for 99 of 100 records", S::NAME);
}
