//! sqlx with SQLite: read, compute, write. A section of the account's color takes the place of a transaction.
//!
//! A task gives its color up while it waits for the database, so two deposits to one account may both read the old
//! balance, and one is lost. [`colored::exclusive`] keeps the color across the awaits: deposits to one account queue up,
//! deposits to others go on.

use colored::task::JoinSet;
use colored::{Color, exclusive};
use colored_libraries::Failure;
use sqlx::sqlite::{SqlitePool, SqlitePoolOptions};

const ACCOUNTS: i64 = 4;
const DEPOSITS: i64 = 50;

#[colored::main(tokio)]
async fn main() -> Result<(), Failure> {
    // Each connection has a database in memory of its own, so there is one connection.
    let pool = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await?;
    sqlx::query("create table accounts (id integer primary key, balance integer not null)")
        .execute(&pool)
        .await?;
    for in_a_section in [false, true] {
        sqlx::query("delete from accounts").execute(&pool).await?;
        for account in 0..ACCOUNTS {
            let insert = sqlx::query("insert into accounts values (?, 0)").bind(account);
            insert.execute(&pool).await?;
        }
        let mut deposits = JoinSet::new();
        for n in 0..ACCOUNTS * DEPOSITS {
            let (pool, account) = (pool.clone(), n % ACCOUNTS);
            deposits.spawn_colored(Color::of(account), async move {
                match in_a_section {
                    false => deposit(&pool, account).await,
                    true => exclusive(deposit(&pool, account)).await,
                }
            });
        }
        while let Some(deposited) = deposits.join_next().await {
            deposited??;
        }
        let sum: i64 =
            sqlx::query_scalar("select sum(balance) from accounts").fetch_one(&pool).await?;
        let how = if in_a_section { "in sections" } else { "without sections" };
        println!("{} deposits {how}: {sum} have arrived", ACCOUNTS * DEPOSITS);
    }
    Ok(())
}

async fn deposit(pool: &SqlitePool, account: i64) -> sqlx::Result<()> {
    let balance: i64 = sqlx::query_scalar("select balance from accounts where id = ?")
        .bind(account)
        .fetch_one(pool)
        .await?;
    sqlx::query("update accounts set balance = ? where id = ?")
        .bind(balance + 1)
        .bind(account)
        .execute(pool)
        .await?;
    Ok(())
}
