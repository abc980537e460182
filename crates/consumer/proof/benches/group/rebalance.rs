//! For how long a partition stands when a member joins or leaves.

use crate::side::{HEARTBEAT, OnKafka, PARTITIONS, SESSION, Sent, Side};
use colored::time::{Duration, Instant, sleep};
use colored_consumer::Consumer;
use colored_engines_proof::find;
use futures_util::future::{Either, select};
use rdkafka::Message;
use rdkafka::consumer::{BaseConsumer, Consumer as _};
use std::io::{BufRead, BufReader};
use std::pin::pin;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A partition may stand for so long.
const MOST: Duration = Duration::from_secs(60);

/// A hundred records each time: Parallel Consumer handles less than 10,000 in a second.
const EACH: Duration = Duration::from_millis(40);

/// How long nothing happens before a member joins or leaves, and after that.
const CALM: Duration = Duration::from_secs(3);

/// When records were handled, by partition.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Vec<Instant>>>>);

impl Seen {
    fn add(&self, partition: usize) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.resize(PARTITIONS as usize, Vec::new());
        all[partition].push(Instant::now());
    }

    /// The longest time without a record of each partition since this moment, in order.
    fn gaps(&self, since: Instant) -> Vec<Duration> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let longest = |times: &Vec<Instant>| {
            let from = times.partition_point(|at| *at < since).saturating_sub(1);
            let times = &times[from..];
            let last = times.last().map_or(MOST, Instant::elapsed);
            times.windows(2).map(|pair| pair[1] - pair[0]).chain([last]).max()
        };
        let mut gaps: Vec<_> = all.iter().filter_map(longest).collect();
        gaps.sort_unstable();
        gaps
    }

    /// Waits until each partition has a record since this moment.
    async fn wait_since(&self, since: Instant) {
        let all_are_there = || {
            let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let is_there = |times: &Vec<Instant>| times.last().is_some_and(|last| *last >= since);
            !all.is_empty() && all.iter().all(is_there)
        };
        let end = Instant::now() + MOST;
        while !all_are_there() {
            assert!(Instant::now() < end, "a partition stands");
            sleep(Duration::from_millis(5)).await;
        }
    }
}

/// One member is there, another one joins and leaves. `start` starts a member, which adds what it handles to what was seen
/// by all, and by itself.
async fn measure<S: Side, Member>(
    (name, side): (&str, &S),
    start: impl AsyncFn([Seen; 2]) -> Member,
    stop: impl AsyncFn(Member),
) {
    let (all, own, sent) = (Seen::default(), Seen::default(), Sent::default());
    let scenario = pin!(async {
        let first = start([all.clone(), Seen::default()]).await;
        all.wait_since(Instant::now()).await;
        sleep(CALM).await;
        let began = Instant::now();
        let second = start([all.clone(), own.clone()]).await;
        while own.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            assert!(began.elapsed() < MOST, "the second member gets nothing");
            sleep(Duration::from_millis(5)).await;
        }
        sleep(CALM).await;
        all.wait_since(Instant::now()).await;
        let joined = all.gaps(began);
        let began = Instant::now();
        stop(second).await;
        sleep(CALM).await;
        all.wait_since(Instant::now()).await;
        let left = all.gaps(began);
        stop(first).await;
        (joined, left)
    });
    let sends = pin!(sent.send(side, usize::MAX, EACH));
    let Either::Left(((joined, left), _)) = select(scenario, sends).await else {
        unreachable!("the sends do not end")
    };
    for (what, gaps) in [("joins", joined), ("leaves", left)] {
        let [half, most] = [gaps[gaps.len() / 2], gaps[gaps.len() - 1]].map(|gap| gap.as_millis());
        let stood = gaps.iter().filter(|gap| **gap > Duration::from_millis(100)).count();
        println!(
            "rebalance, {}, {name}: a member {what}: {half} ms in the median of {} partitions, {most} ms \
             at most; {stood} stood for more than 100 ms",
            S::NAME,
            gaps.len()
        );
    }
}

pub(crate) async fn of_ours<S: Side>(side: &S) {
    let start = async |seen: [Seen; 2]| {
        let builder = Consumer::builder(side.join().await);
        let consumer = builder.start(move |record, _| {
            seen.iter().for_each(|seen| seen.add(record.partition as usize));
            std::future::ready(Ok(()))
        });
        consumer.expect("the settings are good")
    };
    measure(("colored", side), start, async |consumer| {
        consumer.stop().await.expect("the engine works");
    })
    .await;
}

/// A member of a group without anything of ours, which commits each half second by itself.
struct Bare {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

pub(crate) async fn of_a_bare_client(side: &OnKafka) {
    let start = async |seen: [Seen; 2]| {
        let mut config = side.config();
        config.set("group.id", "bare").set("auto.offset.reset", "earliest");
        config.set("partition.assignment.strategy", "cooperative-sticky");
        config.set("session.timeout.ms", SESSION.as_millis().to_string());
        config.set("heartbeat.interval.ms", HEARTBEAT.as_millis().to_string());
        config.set("auto.commit.interval.ms", "500");
        let client: BaseConsumer = config.create().expect("the configuration is good");
        client.subscribe(&[side.topic()]).expect("the topic is there");
        let is_over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            // Ordering: it ends some time after.
            while !stop.load(Ordering::Relaxed) {
                if let Some(Ok(record)) = client.poll(Duration::from_millis(50)) {
                    seen.iter().for_each(|seen| seen.add(record.partition() as usize));
                }
            }
        });
        Bare { is_over, thread }
    };
    measure(("a bare cooperative client", side), start, async |bare| {
        // Ordering: the thread is joined.
        bare.is_over.store(true, Ordering::Relaxed);
        colored::block_in_place(|| bare.thread.join()).expect("it works");
    })
    .await;
}

/// Parallel Consumer says the partition of each record that it has handled.
struct Java {
    child: Child,
    thread: JoinHandle<()>,
}

/// Nothing, if it is not there.
pub(crate) async fn of_parallel_consumer(side: &OnKafka) {
    let Some(jars) = find("parallel-consumer") else { return };
    let start = async |seen: [Seen; 2]| {
        let mut child = Command::new("java")
            .args(["-Xmx512m", "-cp", &format!("{0}/*:{0}", jars.display()), "GroupPeer"])
            .args([&side.url(), side.topic()])
            .args([SESSION, HEARTBEAT].map(|time| time.as_millis().to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a Java");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let thread = std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let partition = line.parse().expect("it is a number");
                seen.iter().for_each(|seen| seen.add(partition));
            }
        });
        Java { child, thread }
    };
    measure(("Parallel Consumer", side), start, async |mut java| {
        drop(java.child.stdin.take());
        let ended = colored::block_in_place(|| (java.child.wait(), java.thread.join()));
        assert!(ended.0.is_ok_and(|status| status.success()) && ended.1.is_ok());
    })
    .await;
}
