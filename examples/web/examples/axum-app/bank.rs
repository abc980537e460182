//! The accounts, in memory.

use colored::{Color, ColorCell, shared, when};
use std::sync::Arc;

const ACCOUNTS: usize = 1_000;
const COINS: u64 = 100;

/// The accounts 0 to 999.
#[derive(Clone)]
pub(crate) struct Bank(Arc<[ColorCell<u64>]>);

/// Why there was no transfer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    NoAccount(usize),
    TooFew { left: u64 },
}

impl Bank {
    pub(crate) fn open() -> Bank {
        Bank((0..ACCOUNTS).map(|_| ColorCell::new(Color::unique(), COINS)).collect())
    }

    pub(crate) async fn balance(&self, account: usize) -> Result<u64, Refused> {
        Ok(self.account(account)?.read(|balance| *balance).await)
    }

    /// Moves the coins in one step, and returns what both accounts hold then: nobody sees the coins in neither or
    /// in both.
    pub(crate) async fn transfer(
        &self,
        from: usize,
        to: usize,
        coins: u64,
    ) -> Result<(u64, u64), Refused> {
        let (from, to) = (self.account(from)?, self.account(to)?);
        let withdraw = move |balance: &mut u64| {
            let left = balance.checked_sub(coins).ok_or(Refused::TooFew { left: *balance })?;
            *balance = left;
            Ok(())
        };
        if from.same(to) {
            return from
                .call(move |balance| {
                    withdraw(balance)?;
                    *balance += coins;
                    Ok((*balance, *balance))
                })
                .await;
        }
        when((from, to), move |from, to| {
            withdraw(from)?;
            *to += coins;
            Ok((*from, *to))
        })
        .await
    }

    /// All coins at one moment, however many transfers run.
    pub(crate) async fn total(&self) -> u64 {
        when(shared(&self.0[..]), |accounts| accounts.iter().sum()).await
    }

    fn account(&self, number: usize) -> Result<&ColorCell<u64>, Refused> {
        self.0.get(number).ok_or(Refused::NoAccount(number))
    }
}
