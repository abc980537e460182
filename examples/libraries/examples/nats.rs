//! async-nats: messages in order by key, keys in parallel.
//!
//! ```text
//! cargo run --example nats -- nats://127.0.0.1:4222
//! ```
//!
//! The library's connection is a task of tokio. The subscription is read by a task of ours, which hands every message to
//! the color of its subject: the spawns are in the order of the messages, and so the handlers of a subject are.

use async_nats::ConnectOptions;
use colored::task::JoinSet;
use colored::{Color, ColorCell};
use colored_libraries::{Failure, argument_or};
use futures_util::StreamExt;
use std::collections::HashMap;

const ORDERS: usize = 30;

#[colored::main(tokio)]
async fn main() -> Result<(), Failure> {
    let url = argument_or("nats://127.0.0.1:4222");
    let client = ConnectOptions::new().connect(url).await?;
    let mut orders = client.subscribe("orders.*").await?;
    for n in 0..ORDERS {
        let shop = format!("orders.{}", ["berlin", "paris", "rome"][n % 3]);
        client.publish(shop, n.to_string().into()).await?;
    }
    client.flush().await?;

    let mut shops: HashMap<String, ColorCell<Vec<usize>>> = HashMap::new();
    let mut handlers = JoinSet::new();
    for _ in 0..ORDERS {
        let Some(order) = orders.next().await else { break };
        let n: usize = std::str::from_utf8(&order.payload)?.parse()?;
        let subject = order.subject.to_string();
        let color = Color::of(&subject);
        let shop =
            shops.entry(subject).or_insert_with(|| ColorCell::new(color, Vec::new())).clone();
        handlers.spawn_colored(color, async move { shop.with(|orders| orders.push(n)) });
    }
    while let Some(handled) = handlers.join_next().await {
        handled?;
    }
    let mut names: Vec<_> = shops.keys().cloned().collect();
    names.sort_unstable();
    for name in names {
        println!("{name}: {:?}", shops[&name].call(|orders| orders.clone()).await);
    }
    Ok(())
}
