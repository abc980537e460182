//! The effects of the example `exactly-once`, and what fails without each of its two checks.

#[path = "../../examples/exactly-once/delivery.rs"]
mod delivery;
#[path = "../../examples/exactly-once/store.rs"]
mod store;

use self::delivery::{DEPOSITS, crash_after, expected, finish, member, send};
use self::store::{Outcome, Position, Store, add_deposit, add_position, claim_partition};
use super::postgres::server;
use crate::support::{Directory, lines_of, with_tokio};
use colored::spawn_unique;
use colored::sync::mpsc;
use colored::time::Duration;
use colored_consumer::embedded::Engine;
use colored_consumer::{Context, Failure, Record};
use sqlx::postgres::PgTransaction;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

type Accounts = Vec<(String, Vec<i64>)>;

impl Directory {
    async fn engine(&self) -> Engine {
        Engine::open(&self.0).await.unwrap()
    }
}

fn url(addr: SocketAddr) -> String {
    format!("postgres://postgres@{addr}/postgres")
}

/// A store, as soon as the server takes connections.
async fn open(addr: SocketAddr) -> Store {
    loop {
        match Store::open(&url(addr)).await {
            Ok(store) => return store,
            Err(error) => println!("not yet: {error}"),
        }
        colored::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A handler, and how often it found an effect to be there.
async fn handle(
    store: Store,
    repeated: Arc<AtomicU64>,
    record: Record,
    context: Context,
) -> Result<(), Failure> {
    match store.handle(&record, context.generation()).await? {
        Outcome::Done => Ok(()),
        Outcome::Repeated => {
            // Ordering: a count.
            repeated.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
        Outcome::Fenced => Err(Failure::fatal("this consumer has the partition")),
    }
}

/// The planted mistake: the position is not looked at.
async fn handle_without_position(
    store: Store,
    record: Record,
    context: Context,
) -> Result<(), Failure> {
    let mut transaction = store.pool.begin().await?;
    assert!(claim_partition(&mut transaction, &Position::of(&record, context.generation())).await?);
    add_deposit(&mut transaction, &record).await?;
    transaction.commit().await?;
    Ok(())
}

/// Delivers to a consumer that crashes half way, and then to another. Returns what the accounts have, and how many records
/// were done before the crash.
fn deliver<F>(
    addr: SocketAddr,
    handler: impl Fn(Store, Record, Context) -> F + Clone + Send + Sync + 'static,
) -> (Accounts, u64)
where
    F: Future<Output = Result<(), Failure>> + Send + 'static,
{
    let directory = Arc::new(Directory::new("exactly-once-test"));
    let (log, first) = (Arc::clone(&directory), handler.clone());
    let done = with_tokio(async move {
        let (store, engine) = (open(addr).await, log.engine().await);
        store.create_tables().await.unwrap();
        send(&engine).await.unwrap();
        let handler = move |record, context| first(store.clone(), record, context);
        crash_after(DEPOSITS / 2, &engine, handler).await.unwrap()
    });
    let accounts = with_tokio(async move {
        let (store, engine) = (open(addr).await, directory.engine().await);
        let of_all = store.clone();
        let handler = move |record, context| handler(of_all.clone(), record, context);
        finish(&engine, handler).await.unwrap();
        store.accounts().await.unwrap()
    });
    (accounts, done)
}

#[test]
fn records_that_come_again_after_a_crash_have_one_effect() {
    let Some(server) = server() else { return };
    let addr = server.addr();
    let repeated = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&repeated);
    let (accounts, done) =
        deliver(addr, move |store, record, context| handle(store, count.clone(), record, context));
    assert_eq!(accounts, expected());
    // Ordering: the consumers have ended.
    let repeated = repeated.load(Ordering::Relaxed);
    assert!((done..=DEPOSITS).contains(&repeated), "{done} were done, {repeated} came again");

    let (accounts, done) = deliver(addr, handle_without_position);
    let deposits: u64 = accounts.iter().map(|(_, deposits)| deposits.len() as u64).sum();
    assert!(deposits >= DEPOSITS + done, "the planted mistake has no effect: {accounts:?}");

    let lines = lines_of("exactly-once", &[&url(addr)]);
    let [sent, crashed, again, once, forgotten] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(sent, "200 deposits to 10 accounts");
    let number = |line: &str| line.split(' ').find_map(|word| word.parse::<u64>().ok()).unwrap();
    assert!(crashed.ends_with(" deposits, and committed none"), "{lines:?}");
    assert!((100..=200).contains(&number(crashed)), "{lines:?}");
    assert!(again.ends_with(" deposits came again"), "{lines:?}");
    assert!((number(crashed)..=200).contains(&number(again)), "{lines:?}");
    assert_eq!([once, forgotten], ["each deposit is there once", "200 positions are forgotten"]);
}

/// A handler is on its way when its partition goes to another consumer, which handles the same record, commits, and forgets
/// the position.
#[test]
fn a_consumer_that_has_lost_its_partition_has_no_effect() {
    let Some(server) = server() else { return };
    let addr = server.addr();
    with_tokio(async move {
        let directory = Directory::new("exactly-once-test");
        let (store, engine) = (open(addr).await, directory.engine().await);
        store.create_tables().await.unwrap();
        send(&engine).await.unwrap();
        let (sender, mut receiver) = mpsc::channel(DEPOSITS as usize);
        let builder = member(&engine).await.unwrap().drain(Duration::from_millis(10));
        let first = builder.start(move |record, context| {
            sender.try_send((record, context.generation())).unwrap();
            std::future::pending()
        });
        let first = first.unwrap();
        let (late, generation) = receiver.recv().await.unwrap();
        first.stop().await.unwrap();

        let second = store.clone();
        let repeated = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&repeated);
        let handler = move |record, context| handle(second.clone(), count.clone(), record, context);
        let owned = finish(&engine, handler).await.unwrap();
        // Ordering: the consumer has ended.
        assert_eq!(repeated.load(Ordering::Relaxed), 0);
        assert!(owned.iter().all(|of| of.generation > generation));
        let outcome = store.handle(&late, generation).await.unwrap();
        assert_eq!(outcome, Outcome::Fenced);
        let mut forgotten = 0;
        for partition in &owned {
            forgotten += store.forget(partition).await.unwrap();
        }
        assert_eq!(forgotten, DEPOSITS);

        let outcome = store.handle(&late, generation).await.unwrap();
        assert_eq!(outcome, Outcome::Fenced);
        assert_eq!(store.accounts().await.unwrap(), expected());

        // The planted mistake: the generation is not looked at.
        let mut transaction = store.pool.begin().await.unwrap();
        let position = Position::of(&late, generation);
        assert!(add_position(&mut transaction, &position).await.unwrap());
        add_deposit(&mut transaction, &late).await.unwrap();
        transaction.commit().await.unwrap();
        let accounts = store.accounts().await.unwrap();
        assert_ne!(accounts, expected(), "the planted mistake has no effect");
    });
}

/// A transaction that has claimed the partition in this generation, and gives up instead of waiting.
async fn claim(
    store: &Store,
    record: &Record,
    generation: u64,
) -> sqlx::Result<Option<PgTransaction<'static>>> {
    let mut transaction = store.pool.begin().await?;
    sqlx::query("set local lock_timeout = '100ms'").execute(&mut *transaction).await?;
    let is_claimed = claim_partition(&mut transaction, &Position::of(record, generation)).await?;
    Ok(is_claimed.then_some(transaction))
}

#[test]
fn owners_wait_for_each_other_and_the_handlers_of_one_owner_do_not() {
    let Some(server) = server() else { return };
    let addr = server.addr();
    with_tokio(async move {
        let store = open(addr).await;
        store.create_tables().await.unwrap();
        let record = Record {
            topic: delivery::TOPIC.into(),
            partition: 0,
            offset: 7,
            timestamp: 0,
            key: Some("account 0".into()),
            value: Some("1".into()),
            headers: Vec::new(),
        };
        claim(&store, &record, 1).await.unwrap().unwrap().commit().await.unwrap();

        let mut first = claim(&store, &record, 1).await.unwrap().unwrap();
        assert!(add_position(&mut first, &Position::of(&record, 1)).await.unwrap());
        add_deposit(&mut first, &record).await.unwrap();
        assert!(claim(&store, &record, 1).await.unwrap().is_some());
        let waits = claim(&store, &record, 2).await.unwrap_err();
        let code = waits.as_database_error().and_then(|error| error.code());
        assert_eq!(code.as_deref(), Some("55P03"), "lock_not_available is expected: {waits}");

        // The later owner waits for the end of this transaction, and then finds the position.
        let (later, again) = (store.clone(), record.clone());
        let later = spawn_unique(async move { later.handle(&again, 2).await });
        first.commit().await.unwrap();
        assert_eq!(later.await.unwrap().unwrap(), Outcome::Repeated);
        assert_eq!(store.handle(&record, 1).await.unwrap(), Outcome::Fenced);
        assert_eq!(store.accounts().await.unwrap(), [("account 0".to_owned(), vec![1])]);
    });
}
