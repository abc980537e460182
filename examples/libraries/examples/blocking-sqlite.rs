//! rusqlite, which is SQLite in C, in tasks with a stack: what SQLite calls back may wait.
//!
//! SQLite calls two functions of this program in the middle of a statement. `price` is a function of SQL that asks a cell
//! under another color; the busy handler waits while another connection writes. Both wait as an `.await` does, with frames
//! of C on the stack. A thread that slept in the busy handler might be the one that the writer needs to go on.
//!
//! SQLite's own work, also what it reads from the disk, holds the worker as long as it takes.

use colored::{Color, ColorCell};
use colored_libraries::Failure;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, TransactionBehavior};
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, process};

const CUSTOMERS: i64 = 8;
const ORDERS: i64 = 25;

type Prices = ColorCell<HashMap<&'static str, i64>>;

#[colored::main]
async fn main() -> Result<(), Failure> {
    let folder = env::temp_dir().join(format!("colored-blocking-sqlite-{}", process::id()));
    fs::create_dir_all(&folder)?;
    let path = folder.join("orders");
    Connection::open(&path)?.execute("create table orders (customer, item, price)", ())?;

    let prices = [("apple", 3), ("pear", 4)].into_iter().collect();
    let prices: Prices = ColorCell::new(Color::named("prices"), prices);
    let customers: Vec<_> = (0..CUSTOMERS)
        .map(|customer| {
            let (path, prices) = (PathBuf::clone(&path), prices.clone());
            stackful::spawn(Color::of(customer), move || order(&path, &prices, customer))
        })
        .collect();
    for customer in customers {
        customer.await??;
    }
    let query = "select count(*), sum(price) from orders";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let (orders, sum): (i64, i64) = Connection::open(&path)?.query_row(query, (), row)?;
    println!("{CUSTOMERS} customers, {orders} orders, a sum of {sum}");
    fs::remove_dir_all(folder)?;
    Ok(())
}

/// A blocking loop, as it would run on a thread.
fn order(path: &Path, prices: &Prices, customer: i64) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.busy_handler(Some(|_| {
        stackful::sleep(Duration::from_millis(1));
        true
    }))?;
    let prices = AssertUnwindSafe(prices.clone());
    connection.create_scalar_function("price", 1, FunctionFlags::SQLITE_UTF8, move |context| {
        let item: String = context.get(0)?;
        Ok(stackful::wait(prices.call(move |prices| prices[&*item])))
    })?;
    for number in 0..ORDERS {
        let item = if number % 2 == 0 { "apple" } else { "pear" };
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute("insert into orders values (?1, ?2, price(?2))", (customer, item))?;
        transaction.commit()?;
    }
    Ok(())
}
