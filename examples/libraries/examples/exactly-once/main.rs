//! Exactly-once effects of an at-least-once consumer: the effect and the position of its record in one transaction of
//! PostgreSQL.
//!
//! ```text
//! cargo run --example exactly-once -- postgres://postgres@127.0.0.1/postgres
//! ```
//!
//! The log has deposits for accounts. A consumer handles half of them and crashes before it commits, so the next one gets
//! them again. The unique index over the positions refuses what is there. At the end the program deletes the positions
//! below the committed offsets. The generation of a partition, the fencing token, makes that safe: it refuses a consumer
//! that has lost the partition and does not know it yet.
//!
//! The program uses the schema `colored_exactly_once` of the database, and replaces what is there.

mod delivery;
mod store;

use self::delivery::{ACCOUNTS, DEPOSITS, crash_after, expected, finish, send};
use self::store::{Outcome, Store};
use colored::Runtime;
use colored_consumer::embedded::Engine;
use colored_consumer::{Context, Record};
use colored_libraries::{Failure, argument_or};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn main() -> Result<(), Failure> {
    let url = argument_or("postgres://postgres@127.0.0.1/postgres");
    let directory = format!("colored-exactly-once-{}", std::process::id());
    let directory = std::env::temp_dir().join(directory);
    let result = run(before_the_crash(directory.clone(), url.clone()))
        .and_then(|()| run(after_the_crash(directory.clone(), url)));
    let _ = std::fs::remove_dir_all(&directory);
    result
}

/// Runs a life of the program.
fn run(life: impl Future<Output = Result<(), Failure>> + Send + 'static) -> Result<(), Failure> {
    Runtime::builder().tokio_context(true).build()?.run(life)
}

async fn before_the_crash(directory: PathBuf, url: String) -> Result<(), Failure> {
    let (engine, handler) = open(&directory, &url).await?;
    handler.store.create_tables().await?;
    send(&engine).await?;
    println!("{DEPOSITS} deposits to {ACCOUNTS} accounts");
    let done = crash_after(DEPOSITS / 2, &engine, move |record, context| {
        let handler = handler.clone();
        async move { handler.handle(&record, &context).await }
    });
    println!("crashed after {} deposits, and committed none", done.await?);
    Ok(())
}

async fn after_the_crash(directory: PathBuf, url: String) -> Result<(), Failure> {
    let (engine, handler) = open(&directory, &url).await?;
    let of_all = handler.clone();
    let owned = finish(&engine, move |record, context| {
        let handler = of_all.clone();
        async move { handler.handle(&record, &context).await }
    });
    let owned = owned.await?;
    // Ordering: the consumer has stopped.
    println!("{} deposits came again", handler.repeated.load(Ordering::Relaxed));
    let accounts = handler.store.accounts().await?;
    if accounts != expected() {
        return Err(Failure::new(format!("not each deposit once, in order: {accounts:?}")));
    }
    println!("each deposit is there once");
    let mut forgotten = 0;
    for partition in &owned {
        forgotten += handler.store.forget(partition).await?;
    }
    println!("{forgotten} positions are forgotten");
    Ok(())
}

#[derive(Clone)]
struct Handler {
    store: Store,
    repeated: Arc<AtomicU64>,
}

async fn open(directory: &Path, url: &str) -> Result<(Engine, Handler), Failure> {
    let engine = Engine::open(directory).await?;
    Ok((engine, Handler { store: Store::open(url).await?, repeated: Arc::default() }))
}

impl Handler {
    async fn handle(
        &self,
        record: &Record,
        context: &Context,
    ) -> Result<(), colored_consumer::Failure> {
        // An error of the database is tried again, and so is a commit whose answer did not come.
        match self.store.handle(record, context.generation()).await? {
            Outcome::Done => Ok(()),
            Outcome::Repeated => {
                // Ordering: a count.
                self.repeated.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            // Tried again until the consumer hears of its loss and drops this handler.
            Outcome::Fenced => {
                Err(colored_consumer::Failure::retry("another consumer has the partition"))
            }
        }
    }
}
