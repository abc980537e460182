//! Libraries that block, unchanged, in tasks with a stack: tungstenite, rustls' `Stream`, and rusqlite, which is C.

use super::EACH;
use crate::support::{Directory, in_colors};
use colored::{Color, ColorCell};
use colored_libraries::SelfSigned;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection, Stream};
use stackful::net::{TcpListener, TcpStream};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tungstenite::{Message, WebSocket};

/// Runs a closure on a stack of its own, under the color of the task that awaits it.
async fn on_a_stack(f: impl FnOnce() + Send + 'static) {
    let color = Color::current().unwrap();
    stackful::spawn(color, f).await.unwrap();
}

/// Serves each connection in a task of its own, which has no thread.
async fn listen(serve: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listener = colored::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(stackful::spawn_unique(move || {
        for stream in TcpListener::from(listener).incoming().map_while(Result::ok) {
            let serve = serve.clone();
            drop(stackful::spawn_unique(move || serve(stream)));
        }
    }));
    addr
}

/// Answers so many messages, and goes away in the middle of the connection.
fn shout_messages(stream: TcpStream, times: u64, count: &ColorCell<u64>) {
    let mut socket = tungstenite::accept(stream).unwrap();
    for _ in 0..times {
        let Ok(Message::Text(text)) = socket.read() else { return };
        stackful::wait(count.call(|count| *count += 1));
        socket.send(Message::text(text.to_uppercase())).unwrap();
    }
}

/// A server that answers so many messages of each connection, and counts them in a cell.
async fn messages(times: u64) -> (SocketAddr, ColorCell<u64>) {
    let count = ColorCell::new(Color::named("messages"), 0);
    let counts = count.clone();
    (listen(move |stream| shout_messages(stream, times, &counts)).await, count)
}

fn connect(addr: SocketAddr) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(addr).unwrap();
    tungstenite::client(format!("ws://{addr}/"), stream).unwrap().0
}

fn say(socket: &mut WebSocket<TcpStream>, task: u64, n: u64) {
    socket.send(Message::text(format!("task {task}, message {n}"))).unwrap();
    assert_eq!(socket.read().unwrap(), Message::text(format!("TASK {task}, MESSAGE {n}")));
}

/// Over two hundred connections.
pub(super) async fn websockets() -> u64 {
    let (addr, count) = messages(u64::MAX).await;
    let visits = in_colors(50, 4, |witness, task| {
        on_a_stack(move || {
            let mut socket = connect(addr);
            for n in 0..10 {
                say(&mut socket, task, n);
                witness.visit();
            }
            socket.close(None).unwrap();
        })
    });
    let visits = visits.await;
    assert_eq!(count.call(|count| *count).await, 2_000);
    visits
}

pub(super) async fn websocket_gone() {
    let (addr, _count) = messages(3).await;
    let visits = in_colors(4, 2, |witness, task| {
        on_a_stack(move || {
            let mut socket = connect(addr);
            (0..3).for_each(|n| say(&mut socket, task, n));
            socket.read().unwrap_err();
            witness.visit();
        })
    });
    assert_eq!(visits.await, 8);
}

/// As [`shout_messages`], of lines over TLS.
fn shout_lines(config: Arc<ServerConfig>, mut socket: TcpStream, times: u64) {
    let mut connection = ServerConnection::new(config).unwrap();
    let mut stream = BufReader::new(Stream::new(&mut connection, &mut socket));
    let mut line = String::new();
    for _ in 0..times {
        line.clear();
        if stream.read_line(&mut line).unwrap() == 0 {
            return;
        }
        stream.get_mut().write_all(line.to_uppercase().as_bytes()).unwrap();
    }
}

async fn over_tls(times: u64) -> (SocketAddr, Arc<ClientConfig>) {
    let tls = SelfSigned::new().unwrap();
    let server = Arc::new(tls.server("shout").unwrap());
    let addr = listen(move |stream| shout_lines(server.clone(), stream, times)).await;
    (addr, Arc::new(tls.client("shout").unwrap()))
}

/// Says so many lines, and whether one more has an answer.
fn talk(addr: SocketAddr, config: Arc<ClientConfig>, task: u64, lines: u64, visit: impl Fn()) {
    let mut socket = TcpStream::connect(addr).unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut connection = ClientConnection::new(config, name).unwrap();
    let mut stream = BufReader::new(Stream::new(&mut connection, &mut socket));
    for n in 0..lines {
        writeln!(stream.get_mut(), "task {task}, line {n}").unwrap();
        let mut answer = String::new();
        stream.read_line(&mut answer).unwrap();
        visit();
        assert_eq!(answer, format!("TASK {task}, LINE {n}\n"));
    }
    if lines < EACH {
        // An end without TLS's notice might be that of an attacker.
        stream.read_line(&mut String::new()).unwrap_err();
        visit();
        return;
    }
    connection.send_close_notify();
    connection.complete_io(&mut socket).unwrap();
}

pub(super) async fn tls() -> u64 {
    let (addr, config) = over_tls(u64::MAX).await;
    let visits = in_colors(10, 2, |witness, task| {
        let config = config.clone();
        on_a_stack(move || talk(addr, config, task, EACH, || witness.visit()))
    });
    visits.await
}

pub(super) async fn tls_gone() {
    let (addr, config) = over_tls(3).await;
    let visits = in_colors(4, 2, |witness, task| {
        let config = config.clone();
        on_a_stack(move || talk(addr, config, task, 3, || witness.visit()))
    });
    assert_eq!(visits.await, 8 * 4);
}

/// A file of a database, in a folder that goes with it.
fn orders(name: &str) -> Directory {
    let folder = Directory::new(name);
    open(&folder.0).execute("create table orders (customer, item, price)", ()).unwrap();
    folder
}

fn open(folder: &Path) -> Connection {
    Connection::open(folder.join("orders")).unwrap()
}

type Prices = ColorCell<HashMap<&'static str, i64>>;

/// SQLite calls two functions back in the middle of a statement, and both wait with frames of C on the stack: a function of
/// SQL asks a cell of another color, and the busy handler waits while another connection writes.
fn order(connection: &mut Connection, prices: &Prices, customer: u64, visit: impl Fn()) {
    let busy: fn(i32) -> bool = |_| {
        stackful::sleep(Duration::from_millis(1));
        true
    };
    connection.busy_handler(Some(busy)).unwrap();
    connection.pragma_update(None, "synchronous", "off").unwrap();
    let prices = AssertUnwindSafe(prices.clone());
    let price = move |context: &rusqlite::functions::Context<'_>| -> rusqlite::Result<i64> {
        let item: String = context.get(0)?;
        Ok(stackful::wait(prices.call(move |prices| prices[&*item])))
    };
    connection.create_scalar_function("price", 1, FunctionFlags::SQLITE_UTF8, price).unwrap();
    for number in 0..EACH {
        let item = if number % 2 == 0 { "apple" } else { "pear" };
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        let insert = "insert into orders values (?1, ?2, price(?2))";
        transaction.execute(insert, (customer as i64, item)).unwrap();
        transaction.commit().unwrap();
        visit();
    }
}

pub(super) async fn sqlite() -> u64 {
    let orders = orders("rusqlite");
    let prices = [("apple", 3), ("pear", 4)].into_iter().collect();
    let prices: Prices = ColorCell::new(Color::named("prices"), prices);
    let visits = in_colors(4, 2, |witness, customer| {
        let (folder, prices) = (orders.0.clone(), prices.clone());
        on_a_stack(move || order(&mut open(&folder), &prices, customer, || witness.visit()))
    });
    let visits = visits.await;
    let query = "select count(*), sum(price) from orders";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let sums: (i64, i64) = open(&orders.0).query_row(query, (), row).unwrap();
    assert_eq!(sums, (400, 1_400));
    visits
}

/// Another connection writes, and does not come to an end.
pub(super) async fn sqlite_gone() {
    let orders = orders("rusqlite-gone");
    let writer = open(&orders.0);
    writer.execute_batch("begin immediate").unwrap();
    let visits = in_colors(4, 2, |witness, _| {
        let folder = orders.0.clone();
        on_a_stack(move || {
            let connection = open(&folder);
            let busy: fn(i32) -> bool = |times| {
                stackful::sleep(Duration::from_millis(1));
                times < 10
            };
            connection.busy_handler(Some(busy)).unwrap();
            let error = connection.execute("insert into orders values (1, 2, 3)", ()).unwrap_err();
            assert_eq!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy));
            witness.visit();
        })
    });
    assert_eq!(visits.await, 8);
}
