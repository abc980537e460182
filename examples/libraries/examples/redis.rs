//! redis: a pipeline for each color on one connection, and messages of a channel under the color of their key.
//!
//! ```text
//! cargo run --example redis -- redis://127.0.0.1:6379
//! ```
//!
//! The messages arrive in order at one task, and it spawns their handlers in that order. Handlers of one key have one
//! color, so each key's messages are handled in order, and keys in parallel.

use colored::task::JoinSet;
use colored::{Color, ColorCell};
use colored_libraries::{Failure, argument_or};
use futures_util::StreamExt;
use redis::AsyncCommands;
use std::collections::HashMap;

#[colored::main(tokio)]
async fn main() -> Result<(), Failure> {
    let client = redis::Client::open(argument_or("redis://127.0.0.1:6379"))?;
    let connection = client.get_multiplexed_async_connection().await?;
    let mut pipelines = JoinSet::new();
    for user in 0..4_u64 {
        let mut connection = connection.clone();
        pipelines.spawn_colored(Color::of(user), async move {
            let key = format!("colored:{user}");
            let mut pipeline = redis::pipe();
            pipeline.atomic().set(&key, user).ignore().incr(&key, 10).del(&key).ignore();
            let (sum,): (u64,) = pipeline.query_async(&mut connection).await?;
            Ok::<_, redis::RedisError>(sum)
        });
    }
    let mut sums = Vec::new();
    while let Some(sum) = pipelines.join_next().await {
        sums.push(sum??);
    }
    sums.sort_unstable();
    println!("4 pipelines on one connection: {sums:?}");

    let mut events = client.get_async_pubsub().await?;
    events.subscribe("colored:events").await?;
    let mut connection = connection;
    for n in 0..12 {
        let _: i64 =
            connection.publish("colored:events", format!("{} {n}", ["a", "b"][n % 2])).await?;
    }
    let heard: ColorCell<HashMap<String, Vec<String>>> =
        ColorCell::new(Color::named("heard"), HashMap::new());
    let mut handlers = JoinSet::new();
    let mut messages = events.on_message().take(12);
    while let Some(message) = messages.next().await {
        let text: String = message.get_payload()?;
        let (key, n) = text.split_once(' ').unwrap_or((&text, ""));
        let (key, n, heard) = (key.to_owned(), n.to_owned(), heard.clone());
        handlers.spawn_colored(Color::of(&key), async move {
            heard.call(move |heard| heard.entry(key).or_default().push(n)).await;
        });
    }
    while handlers.join_next().await.is_some() {}
    for key in ["a", "b"] {
        println!("heard of {key}: {}", heard.call(|heard| heard[key].join(" ")).await);
    }
    Ok(())
}
