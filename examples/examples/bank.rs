//! A bank without locks: each account has a color. A transfer either hops from one to the other, or has
//! both at once by `when`. An audit looks at all accounts at one moment, beside other audits. However
//! many transfers run at the same time, no coin is lost or made.
//!
//! ```text
//! cargo run --release -p colored-examples --example bank
//! ```

use colored::{Color, ColorCell, hop, shared, when};
use colored_examples::{Args, Failure};
use std::sync::Arc;
use std::time::Instant;

const ACCOUNTS: usize = 1_000;
const TRANSFERS: usize = 100_000;
const AUDITS: usize = 100;
const COINS: u64 = 100;

type Account = ColorCell<u64>;
type Bank = Arc<[Account]>;

#[derive(Clone, Copy, Debug)]
enum By {
    Hop,
    When,
}

#[colored::main]
async fn main() -> Result<(), Failure> {
    Args::from_command_line("bank").end()?;
    let open = |_| ColorCell::new(Color::unique(), COINS);
    let bank: Bank = (0..ACCOUNTS).map(open).collect();
    println!("{ACCOUNTS} accounts hold {} coins", total(&bank).await);
    run(&bank, By::Hop).await;

    // With `when` one may look at all accounts at any time: no coin is ever on its way.
    let auditor = colored::spawn_unique(audit(Arc::clone(&bank)));
    run(&bank, By::When).await;
    let exact = auditor.await?;
    println!("{AUDITS} audits meanwhile, {exact} of them exact");
    println!("{ACCOUNTS} accounts hold {} coins", total(&bank).await);
    Ok(())
}

async fn run(bank: &Bank, by: By) {
    let start = Instant::now();
    let transfers = (0..TRANSFERS).map(|_| {
        let bank = Arc::clone(bank);
        let (from, to) = (fastrand::usize(..ACCOUNTS), fastrand::usize(..ACCOUNTS));
        let coins = fastrand::u64(1..=COINS);
        colored::spawn_unique(async move {
            match by {
                By::Hop => by_hop(&bank[from], &bank[to], coins).await,
                By::When => by_when(&bank[from], &bank[to], coins).await,
            }
        })
    });
    let mut refused = 0;
    for transfer in transfers.collect::<Vec<_>>() {
        refused += usize::from(!transfer.await.expect("no transfer panics"));
    }
    println!(
        "{TRANSFERS} transfers by {by:?} in {:.1?}, {refused} of them refused",
        start.elapsed()
    );
}

/// Moves `coins`; whether there were enough.
async fn by_hop(from: &Account, to: &Account, coins: u64) -> bool {
    hop(from.color()).await;
    // No other task uses this account until the next `.await`.
    let enough = from.with(|balance| withdraw(balance, coins));
    if enough {
        // On the way the coins are in no account, only here.
        hop(to.color()).await;
        to.with(|balance| *balance += coins);
    }
    enough
}

/// The same in one step.
async fn by_when(from: &Account, to: &Account, coins: u64) -> bool {
    if from.same(to) {
        return from.call(move |balance| *balance >= coins).await;
    }
    when((from, to), move |from, to| {
        let enough = withdraw(from, coins);
        *to += if enough { coins } else { 0 };
        enough
    })
    .await
}

fn withdraw(balance: &mut u64, coins: u64) -> bool {
    let left = balance.checked_sub(coins);
    *balance = left.unwrap_or(*balance);
    left.is_some()
}

/// How often all coins were there.
async fn audit(bank: Bank) -> usize {
    let mut exact = 0;
    for _ in 0..AUDITS {
        let sum: u64 = when(shared(&bank[..]), |accounts| accounts.iter().sum()).await;
        exact += usize::from(sum == ACCOUNTS as u64 * COINS);
    }
    exact
}

/// One account after the other: exact when nothing moves.
async fn total(bank: &[Account]) -> u64 {
    let mut total = 0;
    for account in bank {
        total += account.call(|balance| *balance).await;
    }
    total
}
