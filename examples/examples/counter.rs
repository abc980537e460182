//! State without a lock: one color owns the counter, a thousand tasks in parallel add to it.

use colored::{Color, ColorCell};

#[colored::main]
async fn main() {
    let total = ColorCell::new(Color::of("total"), 0u64);
    let adders: Vec<_> = (1..=1000)
        .map(|n| {
            let total = total.clone();
            colored::spawn_unique(async move { total.call(move |sum| *sum += n).await })
        })
        .collect();
    for adder in adders {
        adder.await.expect("no adder panics");
    }
    println!("1 + 2 + ... + 1000 = {}", total.call(|sum| *sum).await);
}
