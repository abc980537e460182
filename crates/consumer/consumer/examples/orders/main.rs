//! Orders for shares, from a log, by a keyed consumer: those of one share in their order, those of different shares at the
//! same time. The log is the embedded engine of `colored-rt-consumer`, in a directory of temporary files.
//!
//! The program sends the orders, handles them one at a time, then in parallel by share, and prints the ratio. Then it
//! crashes half way, begins again, and shows what came twice: what was done since the last commit, and nothing else. No
//! order is lost, and none overtakes another one of its share.
//!
//! It ends by itself after some seconds.
//!
//! ```text
//! cargo run --release -p colored-examples --example orders
//! cargo run --release -p colored-examples --example orders -- --orders 500 --shares 20 --in-flight 16
//! ```

mod store;

use self::store::{Order, Store};
use colored::Runtime;
use colored::sync::watch;
use colored_consumer::Consumer;
use colored_consumer::embedded::{Engine, NewRecord};
use colored_examples_common::{Args, Failure};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const USAGE: &str = "orders [--orders N] [--shares N] [--in-flight N]";

const TOPIC: &str = "orders";

#[derive(Clone, Copy)]
struct Plan {
    orders: usize,
    shares: usize,
    in_flight: usize,
}

/// The directory of the engine, which is removed at the end.
struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn main() -> Result<(), Failure> {
    let mut args = Args::from_command_line(USAGE);
    let plan = Plan {
        orders: args.number("--orders", 1..=10_000_000)?.unwrap_or(2_000),
        shares: args.number("--shares", 1..=1_000_000)?.unwrap_or(200),
        in_flight: args.number("--in-flight", 1..=100_000)?.unwrap_or(64),
    };
    args.end()?;
    let Plan { orders, shares, in_flight } = plan;
    println!("{orders} orders for {shares} shares, at most {in_flight} at a time");
    let directory = format!("colored-orders-{}", std::process::id());
    let directory = Directory(std::env::temp_dir().join(directory));
    Runtime::new()?.run(plan.send(directory.0.clone()))?;

    let one = plan.handle_all(&directory.0, "one at a time", 1)?;
    let key = plan.handle_all(&directory.0, "in parallel by share", in_flight)?;
    println!("in parallel by share: {:.1} times as fast as one at a time", key / one);
    plan.crash_and_go_on(&directory.0)
}

impl Plan {
    async fn send(self, directory: PathBuf) -> Result<(), Failure> {
        let engine = Engine::open(directory).await?;
        engine.create_topic(TOPIC, 8).await?;
        let mut chance = fastrand::Rng::with_seed(1);
        let mut numbers = vec![0; self.shares];
        let orders = (0..self.orders).map(|_| {
            let share = chance.usize(..self.shares);
            numbers[share] += 1;
            let order =
                Order { share, number: numbers[share], text: format!("buy {}", chance.u8(1..)) };
            NewRecord::new(format!("share {share}"), order.encode())
        });
        engine.send_all(TOPIC, orders.collect::<Vec<_>>()).await?;
        Ok(())
    }

    /// Handles all orders as a group of this name; returns how many a second.
    fn handle_all(self, directory: &Path, name: &str, at_a_time: usize) -> Result<f64, Failure> {
        let store = Store::new(self.shares);
        let start = Instant::now();
        let handled = Handled { at_a_time, until: self.orders, is_stopped: true };
        Runtime::new()?.run(handled.run(directory.to_owned(), name.to_owned(), store.clone()))?;
        let rate = self.orders as f64 / start.elapsed().as_secs_f64();
        let counts = store.counts();
        println!(
            "{name}: {rate:.0} orders/s; {} handled at a time; {} out of order, {} twice",
            counts.most_at_once, counts.early, counts.again
        );
        if counts.early + counts.again > 0 || counts.stored != self.orders {
            return Err(Failure::new("orders were lost, came twice or out of order"));
        }
        Ok(rate)
    }

    /// Stops half way without waiting for anything, as a crash does, and begins again.
    fn crash_and_go_on(self, directory: &Path) -> Result<(), Failure> {
        let (store, half) = (Store::new(self.shares), self.orders.div_ceil(2));
        let group = "crash";
        let crash = Handled { at_a_time: self.in_flight, until: half, is_stopped: false };
        // The end of the runtime drops what is in flight.
        Runtime::new()?.run(crash.run(directory.to_owned(), group.to_owned(), store.clone()))?;
        let at_the_crash = store.counts().stored;
        let rest = Handled { until: self.orders, is_stopped: true, ..crash };
        Runtime::new()?.run(rest.run(directory.to_owned(), group.to_owned(), store.clone()))?;
        let counts = store.counts();
        println!(
            "crashed after {at_the_crash} orders: {} came twice, {} out of order, and {} of {} are stored",
            counts.again, counts.early, counts.stored, self.orders
        );
        if counts.stored != self.orders || counts.early > 0 {
            return Err(Failure::new("orders were lost, or came out of order"));
        }
        Ok(())
    }
}

/// One life of a consumer.
#[derive(Clone, Copy)]
struct Handled {
    at_a_time: usize,
    /// It ends when so many orders are stored.
    until: usize,
    /// Whether it ends well.
    is_stopped: bool,
}

impl Handled {
    async fn run(
        self,
        directory: PathBuf,
        group: String,
        store: Arc<Store>,
    ) -> Result<(), Failure> {
        let engine = Engine::open(directory).await?;
        let (stored, mut count) = watch::channel(store.counts().stored);
        let member = engine.member(&group, [TOPIC]).join().await?;
        let consumer =
            Consumer::builder(member).concurrency(self.at_a_time).start(move |record, _| {
                let (store, stored) = (Arc::clone(&store), stored.clone());
                async move {
                    store.handle(&Order::decode(record.value.as_deref().unwrap_or_default())).await;
                    // The count is read under the lock of the channel: so no smaller one comes behind it.
                    stored.send_modify(|stored| *stored = store.counts().stored);
                    Ok(())
                }
            })?;
        while *count.borrow() < self.until {
            count.changed().await?;
        }
        if self.is_stopped {
            consumer.stop().await?;
        } else {
            // Not even its drop runs, as in a crash.
            std::mem::forget(consumer);
        }
        Ok(())
    }
}
