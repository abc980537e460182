//! A bank without locks: each account has a color, and a transfer hops from one to the other. However
//! many transfers run at the same time, no coin is lost or made.
//!
//! ```text
//! cargo run --release --example bank
//! ```

use colored::{Color, ColorCell, hop};
use std::sync::Arc;
use std::time::Instant;

const ACCOUNTS: usize = 1_000;
const TRANSFERS: usize = 100_000;
const COINS: u64 = 100;

type Account = ColorCell<u64>;

#[colored::main]
async fn main() {
    let open = |_| ColorCell::new(Color::unique(), COINS);
    let bank: Arc<[Account]> = (0..ACCOUNTS).map(open).collect();
    println!("{ACCOUNTS} accounts hold {} coins", total(&bank).await);

    let start = Instant::now();
    let transfers = (0..TRANSFERS).map(|_| {
        let bank = Arc::clone(&bank);
        let (from, to) = (fastrand::usize(..ACCOUNTS), fastrand::usize(..ACCOUNTS));
        let coins = fastrand::u64(1..=COINS);
        colored::spawn_unique(async move { transfer(&bank[from], &bank[to], coins).await })
    });
    let mut refused = 0;
    for transfer in transfers.collect::<Vec<_>>() {
        refused += usize::from(!transfer.await.expect("no transfer panics"));
    }
    println!("{TRANSFERS} transfers in {:.1?}, {refused} of them refused", start.elapsed());
    println!("{ACCOUNTS} accounts hold {} coins", total(&bank).await);
}

/// Moves `coins`; whether there were enough.
async fn transfer(from: &Account, to: &Account, coins: u64) -> bool {
    hop(from.color()).await;
    // Nobody else is at this account until the next `.await`.
    let enough = from.with(|balance| {
        let left = balance.checked_sub(coins);
        *balance = left.unwrap_or(*balance);
        left.is_some()
    });
    if enough {
        // On the way the coins are in no account, only here.
        hop(to.color()).await;
        to.with(|balance| *balance += coins);
    }
    enough
}

async fn total(bank: &[Account]) -> u64 {
    let mut total = 0;
    for account in bank {
        total += account.call(|balance| *balance).await;
    }
    total
}
