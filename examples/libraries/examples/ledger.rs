//! axum and SQLite: accounts in memory, and a journal on the disk that is written in batches.
//!
//! Each account is a cell. A transfer takes two of them by `when`: it checks, queues its entry of the journal, and moves
//! the coins, all in one step. So the entries of an account are queued in the order in which its balance changed. A stage
//! writes all entries that have come meanwhile in one transaction, and then the requests are answered. If the stage's
//! queue is full, transfers are refused before anything has changed.
//!
//! If the journal cannot be written, memory is ahead of the disk: then the program ends. It begins with the sums of the
//! journal.
//!
//! ```text
//! cargo run --example ledger [FILE]
//! ```
//!
//! The program is its own client: it makes 2,000 transfers over HTTP, stops the server, and adds up the journal.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use colored::net::TcpListener;
use colored::stage::{Batch, Builder, Events, Stage};
use colored::sync::{mpsc, oneshot};
use colored::task::JoinSet;
use colored::{Color, ColorCell, spawn_unique, when};
use colored_hyper::{serve, tower};
use colored_libraries::{Failure, argument_or};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};
use std::sync::Arc;

const ACCOUNTS: i64 = 10;
const START: i64 = 100_000;
const CLIENTS: i64 = 20;
const TRANSFERS: i64 = 100;

#[derive(Clone)]
struct Bank {
    accounts: Arc<[ColorCell<i64>]>,
    journal: Stage<Entry>,
}

/// A line of the journal, and the request that waits until it is on the disk.
struct Entry {
    from: i64,
    to: i64,
    coins: i64,
    written: oneshot::Sender<()>,
}

#[colored::main(tokio)]
async fn main() -> Result<(), Failure> {
    let file = argument_or(":memory:");
    let pool = open(&file).await?;
    let (fails, mut failed) = mpsc::channel(1);
    let bank = Bank { accounts: load(&pool).await?, journal: journal(pool.clone(), fails) };

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/transfers", listener.local_addr()?);
    let routes = Router::new()
        .route("/transfers/{from}/{to}/{coins}", post(transfer))
        .with_state(bank.clone());
    let clients = spawn_unique(clients(url));
    let stop = async move {
        colored::select! {
            done = clients => println!("{}", done.expect("no client panics")),
            error = failed.recv() => println!("the journal cannot be written: {error:?}"),
        }
    };
    serve(listener, tower(routes)).with_graceful_shutdown(stop).await?;
    bank.journal.close();
    bank.journal.drained().await;
    let written = bank.journal.metrics();
    println!("{} entries in {} transactions", written.handled, written.batches);

    let mut differences = 0;
    for (number, account) in (0..ACCOUNTS).zip(&*bank.accounts) {
        let in_memory = account.call(|coins| *coins).await;
        differences += u64::from(on_disk(&pool, number).await? != in_memory);
    }
    println!("{differences} accounts differ between memory and journal");
    Ok(())
}

async fn transfer(
    State(bank): State<Bank>,
    Path((from, to, coins)): Path<(i64, i64, i64)>,
) -> StatusCode {
    let cell = |number| bank.accounts.get(usize::try_from(number).ok()?);
    let (Some(giver), Some(taker)) = (cell(from), cell(to)) else { return StatusCode::NOT_FOUND };
    if from == to || coins <= 0 {
        return StatusCode::BAD_REQUEST;
    }
    let (written, is_written) = oneshot::channel();
    let entry = Entry { from, to, coins, written };
    let journal = bank.journal.clone();
    let accepted = when((giver, taker), move |giver, taker| {
        if *giver < coins {
            return Err(StatusCode::CONFLICT);
        }
        journal.try_send(entry).map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
        *giver -= coins;
        *taker += coins;
        Ok(())
    });
    match accepted.await {
        Ok(()) if is_written.await.is_ok() => StatusCode::NO_CONTENT,
        Ok(()) => StatusCode::INTERNAL_SERVER_ERROR,
        Err(refused) => refused,
    }
}

/// The stage that writes the journal: a transaction for each batch.
fn journal(pool: SqlitePool, fails: mpsc::Sender<sqlx::Error>) -> Stage<Entry> {
    let handler = move |entries: Events<Entry>| {
        let (pool, fails) = (pool.clone(), fails.clone());
        let entries: Vec<Entry> = entries.collect();
        async move {
            if let Err(error) = write(&pool, &entries).await {
                // The first error is enough. The requests of these entries get an error too, by the end of the channel.
                let _ = fails.try_send(error);
                return;
            }
            for entry in entries {
                let _unless_gone = entry.written.send(());
            }
        }
    };
    Builder::new().capacity(1_000).batch(Batch::Fixed(64)).build(handler)
}

async fn write(pool: &SqlitePool, entries: &[Entry]) -> sqlx::Result<()> {
    let mut transaction = pool.begin().await?;
    for entry in entries {
        sqlx::query("insert into journal values (?, ?, ?)")
            .bind(entry.from)
            .bind(entry.to)
            .bind(entry.coins)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await
}

async fn open(file: &str) -> sqlx::Result<SqlitePool> {
    let options = SqliteConnectOptions::new().filename(file).create_if_missing(true);
    // One connection, since a database in memory belongs to its connection.
    let pool = sqlx::sqlite::SqlitePoolOptions::new().max_connections(1);
    let pool = pool.connect_with(options).await?;
    let table = "create table if not exists journal (giver integer, taker integer, coins integer)";
    sqlx::query(table).execute(&pool).await?;
    Ok(pool)
}

async fn load(pool: &SqlitePool) -> sqlx::Result<Arc<[ColorCell<i64>]>> {
    let mut accounts = Vec::new();
    for number in 0..ACCOUNTS {
        accounts.push(ColorCell::new(Color::unique(), on_disk(pool, number).await?));
    }
    Ok(accounts.into())
}

/// The balance of an account, by the journal.
async fn on_disk(pool: &SqlitePool, number: i64) -> sqlx::Result<i64> {
    let sum = "select ? + coalesce(sum(case when taker = ?2 then coins else -coins end), 0) \
               from journal where ?2 in (giver, taker)";
    sqlx::query_scalar(sum).bind(START).bind(number).fetch_one(pool).await
}

/// Makes transfers from many clients at a time. Returns what became of them.
async fn clients(url: String) -> String {
    let client = reqwest::Client::new();
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let (client, url) = (client.clone(), url.clone());
        clients.spawn_unique(async move {
            let mut done = 0;
            for round in 0..TRANSFERS {
                let from = (number + round) % ACCOUNTS;
                let to = (from + 1 + round % (ACCOUNTS - 1)) % ACCOUNTS;
                let request = client.post(format!("{url}/{from}/{to}/{}", 1 + round % 7));
                let answer = request.send().await.map(|answer| answer.status());
                done += i64::from(answer.is_ok_and(|status| status == StatusCode::NO_CONTENT));
            }
            done
        });
    }
    let done: i64 = clients.join_all().await.into_iter().sum();
    format!("{done} of {} transfers are done", CLIENTS * TRANSFERS)
}
