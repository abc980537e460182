//! sqlx with SQLite.

use super::EACH;
use crate::support::{in_colors, with_tokio};
use colored::exclusive;
use sqlx::sqlite::{SqlitePool, SqlitePoolOptions};
use std::time::Duration;

/// A pool of one connection, as each has a database of its own in memory.
async fn pool() -> SqlitePool {
    let options = SqlitePoolOptions::new().max_connections(1);
    let options = options.acquire_timeout(Duration::from_secs(60));
    let pool = options.connect("sqlite::memory:").await.unwrap();
    let create = "create table sums (id integer primary key, sum integer not null)";
    sqlx::query(create).execute(&pool).await.unwrap();
    pool
}

pub(super) async fn many() -> u64 {
    let pool = pool().await;
    let visits = in_colors(10, 2, |witness, task| {
        let pool = pool.clone();
        async move {
            for n in 0..EACH {
                let query = sqlx::query_scalar("select ? * 1000 + ?");
                let query = query.bind(task as i64).bind(n as i64);
                let sum: i64 = query.fetch_one(&pool).await.unwrap();
                witness.visit();
                assert_eq!(sum, (task * 1000 + n) as i64);
            }
        }
    });
    visits.await
}

/// Read, compute and write is one step for its color, without a transaction.
#[test]
fn a_section_keeps_the_color_through_the_queries() {
    with_tokio(async {
        let pool = pool().await;
        for id in 0..5 {
            sqlx::query("insert into sums values (?, 0)").bind(id).execute(&pool).await.unwrap();
        }
        let visits = in_colors(5, 4, |witness, task| {
            let pool = pool.clone();
            async move {
                for _ in 0..10 {
                    exclusive(increment(&pool, (task % 5) as i64)).await;
                    witness.visit();
                }
            }
        });
        assert_eq!(visits.await, 200);
        let sums: Vec<i64> =
            sqlx::query_scalar("select sum from sums order by id").fetch_all(&pool).await.unwrap();
        assert_eq!(sums, [40; 5]);
    });
}

async fn increment(pool: &SqlitePool, id: i64) {
    let read = sqlx::query_scalar("select sum from sums where id = ?").bind(id);
    let sum: i64 = read.fetch_one(pool).await.unwrap();
    let write = sqlx::query("update sums set sum = ? where id = ?").bind(sum + 1).bind(id);
    write.execute(pool).await.unwrap();
}

/// A pool that is exhausted, and one that is closed.
pub(super) async fn gone() {
    let options = SqlitePoolOptions::new().max_connections(1);
    let options = options.acquire_timeout(Duration::from_millis(50));
    let pool = options.connect_lazy("sqlite::memory:").unwrap();
    // A busy machine may need longer for the first connection.
    let held = loop {
        if let Ok(held) = pool.acquire().await {
            break held;
        }
    };
    let error = pool.acquire().await.unwrap_err();
    assert!(matches!(error, sqlx::Error::PoolTimedOut), "{error:?}");
    drop(held);
    pool.close().await;
    let error = pool.acquire().await.unwrap_err();
    assert!(matches!(error, sqlx::Error::PoolClosed), "{error:?}");
}
