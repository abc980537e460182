//! Accounts in PostgreSQL, and what it takes to change them exactly once by records that are delivered at least once.
//!
//! | table | has |
//! |---|---|
//! | `accounts` | the effects |
//! | `positions` | a row for each record whose effect is there |
//! | `owners` | the highest generation of each partition |
//!
//! The default isolation level, read committed, is enough.

use colored_consumer::{PartitionMetrics, Record};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};

const TABLES: &str = "
drop schema if exists colored_exactly_once cascade;
create schema colored_exactly_once;
create table accounts (name text primary key, deposits bigint[] not null);
create table positions (
    topic text, partition bigint, record bigint, primary key (topic, partition, record));
create table owners (
    topic text, partition bigint, generation bigint not null, primary key (topic, partition))";

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The effect is there, and the position beside it.
    Done,
    /// The effect was there before.
    Repeated,
    /// A later owner has the partition. Nothing was changed.
    Fenced,
}

/// The place of a record, and the generation in which it came.
#[derive(Debug)]
pub(crate) struct Position<'a> {
    topic: &'a str,
    partition: i64,
    offset: i64,
    generation: i64,
}

impl<'a> Position<'a> {
    pub(crate) fn of(record: &'a Record, generation: u64) -> Position<'a> {
        Position::new(&record.topic, record.partition, record.offset, generation)
    }

    fn new(topic: &'a str, partition: u32, offset: u64, generation: u64) -> Position<'a> {
        let signed = |number: u64| i64::try_from(number).expect("PostgreSQL has 63 bits for it");
        let (offset, generation) = (signed(offset), signed(generation));
        Position { topic, partition: partition.into(), offset, generation }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) pool: PgPool,
}

impl Store {
    pub(crate) async fn open(url: &str) -> sqlx::Result<Store> {
        let options: PgConnectOptions = url.parse()?;
        let options = options.options([("search_path", "colored_exactly_once")]);
        let pool = PgPoolOptions::new().max_connections(8).connect_with(options).await?;
        Ok(Store { pool })
    }

    /// The store makes its tables, and removes the tables of an earlier run, because the offsets of a new log begin at 0 again.
    pub(crate) async fn create_tables(&self) -> sqlx::Result<()> {
        sqlx::raw_sql(TABLES).execute(&self.pool).await?;
        Ok(())
    }

    /// Writes the effect of a record and its position in one transaction, unless the position is there. A call that is
    /// dropped has done all or nothing.
    pub(crate) async fn handle(&self, record: &Record, generation: u64) -> sqlx::Result<Outcome> {
        let position = Position::of(record, generation);
        let mut transaction = self.pool.begin().await?;
        if !claim_partition(&mut transaction, &position).await? {
            return Ok(Outcome::Fenced);
        }
        let is_new = add_position(&mut transaction, &position).await?;
        if is_new {
            add_deposit(&mut transaction, record).await?;
        }
        transaction.commit().await?;
        Ok(if is_new { Outcome::Done } else { Outcome::Repeated })
    }

    /// Deletes the positions before the offset that is committed, and returns how many. Only a consumer that has lost the
    /// partition can still have a record from there, and it is refused.
    pub(crate) async fn forget(&self, of: &PartitionMetrics) -> sqlx::Result<u64> {
        let partition = &of.partition;
        let committed =
            Position::new(&partition.topic, partition.partition, of.committed, of.generation);
        let mut transaction = self.pool.begin().await?;
        if !claim_partition(&mut transaction, &committed).await? {
            return Ok(0);
        }
        let delete = "delete from positions where topic = $1 and partition = $2 and record < $3";
        let delete = sqlx::query(delete).bind(committed.topic).bind(committed.partition);
        let deleted = delete.bind(committed.offset).execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(deleted.rows_affected())
    }

    /// The accounts with their deposits, in the order in which these came.
    pub(crate) async fn accounts(&self) -> sqlx::Result<Vec<(String, Vec<i64>)>> {
        let select = "select name, deposits from accounts order by name";
        sqlx::query_as(select).fetch_all(&self.pool).await
    }
}

/// Whether no later owner has the partition. It stays so until the transaction ends.
pub(crate) async fn claim_partition(
    connection: &mut PgConnection,
    position: &Position<'_>,
) -> sqlx::Result<bool> {
    // The first transaction of an owner waits for those of the owner before it. The next ones change nothing here, and so
    // do not wait for each other.
    let raise = "insert into owners select $1, $2, $3 where not exists
            (select from owners where topic = $1 and partition = $2 and generation >= $3)
        on conflict (topic, partition) do update set generation = excluded.generation
            where owners.generation < excluded.generation";
    // The lock makes a later owner wait in its turn.
    let share = "select from owners
        where topic = $1 and partition = $2 and generation = $3 for share";
    execute(raise, connection, position).await?;
    Ok(execute(share, connection, position).await? == 1)
}

/// The number of rows that a statement about the owner of a partition has changed or returned.
async fn execute(
    statement: &'static str,
    connection: &mut PgConnection,
    position: &Position<'_>,
) -> sqlx::Result<u64> {
    let query = sqlx::query(statement).bind(position.topic).bind(position.partition);
    Ok(query.bind(position.generation).execute(connection).await?.rows_affected())
}

/// Whether the position is new; then it is there when the transaction is committed. If another transaction is about to
/// write the same position, this waits for its end.
pub(crate) async fn add_position(
    connection: &mut PgConnection,
    position: &Position<'_>,
) -> sqlx::Result<bool> {
    let insert = "insert into positions values ($1, $2, $3) on conflict do nothing";
    let insert = sqlx::query(insert).bind(position.topic).bind(position.partition);
    Ok(insert.bind(position.offset).execute(connection).await?.rows_affected() == 1)
}

/// The effect.
pub(crate) async fn add_deposit(
    connection: &mut PgConnection,
    record: &Record,
) -> sqlx::Result<()> {
    let text = |bytes: &Option<bytes::Bytes>| {
        let bytes = bytes.clone().expect("this program wrote a key and a value");
        String::from_utf8(bytes.to_vec()).expect("this program wrote it")
    };
    let account = text(&record.key);
    let coins: i64 = text(&record.value).parse().expect("this program wrote a number");
    let insert = "insert into accounts values ($1, array[$2::bigint])
        on conflict (name) do update set deposits = accounts.deposits || excluded.deposits";
    sqlx::query(insert).bind(account).bind(coins).execute(connection).await?;
    Ok(())
}
