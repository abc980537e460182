//! State without a lock: one color owns the counter, a thousand tasks in parallel add to it.
//!
//! ```text
//! cargo run --release -p colored-examples --example counter
//! ```

use colored::{Color, ColorCell};

#[colored::main]
async fn main() {
    let total = ColorCell::new(Color::named("total"), 0);
    let adders = (1..=1000).map(|n| {
        let total = total.clone();
        colored::spawn_unique(async move { total.call(move |sum| *sum += n).await })
    });
    for adder in adders.collect::<Vec<_>>() {
        adder.await.expect("no adder panics");
    }
    println!("1 + 2 + ... + 1000 = {}", total.call(|sum| *sum).await);
}
