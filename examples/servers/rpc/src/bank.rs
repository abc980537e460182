//! [`Bank`]: a program whose calls are not idempotent, which shows whether each is executed once.

use crate::{Caller, Procedure, Refusal, RpcError, Services, Udp, service};
use colored::task::yield_now;
use colored::{Color, ColorCell, spawn_colored};
use nfs3_types::xdr_codec::XdrCodec;
use std::net::SocketAddr;
use std::sync::Arc;

/// The program's number.
pub const PROGRAM: u32 = 0x2000_b0b0;

/// Deposits into an account: from a [`Deposit`] to the new balance.
pub const DEPOSIT: Procedure = Procedure::new(PROGRAM, 1, 1);

/// The arguments of [`DEPOSIT`].
#[derive(Clone, Copy, Debug, XdrCodec)]
pub struct Deposit {
    /// The number of the account.
    pub account: u32,
    /// What is deposited.
    pub amount: u32,
}

/// Accounts with a color each. Clones share them.
#[derive(Clone, Debug)]
pub struct Bank {
    accounts: Arc<[ColorCell<u64>]>,
}

impl Bank {
    /// So many accounts, all empty.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[must_use]
    pub fn new(accounts: u32) -> Self {
        let account = |number| ColorCell::new(color_of(number), 0);
        Self { accounts: (0..accounts).map(account).collect() }
    }

    /// The bank's program.
    #[must_use]
    pub fn services(&self) -> Services {
        Services::new().with(service! {
            program PROGRAM, version 1, state self.clone();
            DEPOSIT.number => deposit, under |_, deposit: &Deposit| color_of(deposit.account);
        })
    }

    /// The sum of all balances. Cancel safe.
    pub async fn total(&self) -> u64 {
        let mut total = 0;
        for account in &*self.accounts {
            total += account.call(|balance| *balance).await;
        }
        total
    }
}

fn color_of(account: u32) -> Color {
    Color::of(("account", account))
}

async fn deposit(bank: Bank, _: Caller, deposit: Deposit) -> Result<u64, Refusal> {
    let account = bank.accounts.get(deposit.account as usize);
    let account = account.ok_or(Refusal::GarbageArguments)?;
    // Gives a call that comes twice a chance to come while its handler runs.
    yield_now().await;
    Ok(account.with(|balance| {
        *balance += u64::from(deposit.amount);
        *balance
    }))
}

/// Deposits 1 so many times into each account, from two callers an account, and checks the balances that are answered: each of
/// 1, 2, 3, .. must come once. Not cancel safe.
///
/// # Errors
///
/// The first call that fails, and what is wrong with the balances of an account.
pub async fn deposit_and_check(
    client: &Udp,
    bank: SocketAddr,
    accounts: u32,
    deposits: u32,
) -> Result<(), String> {
    let callers: Vec<_> = (0..2 * accounts)
        .map(|caller| {
            let (account, client) = (caller / 2, client.clone());
            let deposits = (deposits + caller % 2) / 2;
            let depositing = deposit_times(client, bank, account, deposits);
            (account, spawn_colored(Color::of(("caller", caller)), depositing))
        })
        .collect();
    let mut balances = vec![Vec::new(); accounts as usize];
    for (account, caller) in callers {
        let answered = caller.await.map_err(|error| error.to_string())?;
        balances[account as usize].extend(answered.map_err(|error| error.to_string())?);
    }
    for (account, balances) in balances.iter_mut().enumerate() {
        balances.sort_unstable();
        if !balances.iter().copied().eq(1..=u64::from(deposits)) {
            return Err(format!("account {account}: the balances answered are {balances:?}"));
        }
    }
    Ok(())
}

async fn deposit_times(
    client: Udp,
    bank: SocketAddr,
    account: u32,
    times: u32,
) -> Result<Vec<u64>, RpcError> {
    let mut balances = Vec::with_capacity(times as usize);
    for _ in 0..times {
        balances.push(client.call(bank, DEPOSIT, &Deposit { account, amount: 1 }).await?);
    }
    Ok(balances)
}
