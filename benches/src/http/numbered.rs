//! One handler for every way to serve many connections. Each request carries a number, which the response
//! repeats: so a client sees a response that is lost, or that comes twice.
//!
//! | [`Model`] | a connection is |
//! |---|---|
//! | `Futures` | a task of `colored` under a color of its own |
//! | `Callbacks` | an entry of a poll loop of `mio`; a loop for each core |
//! | `Threads` | a thread with a small stack, which blocks |
//! | `Tokio` | a task of tokio, multi-thread |
//! | `Stackful` | a task with a stack of `colored`, which looks as in a thread |
//! | `Watched` | as `Futures`; the server counts where its requests ran ([`home`]) |
//!
//! The handler allocates nothing: a connection has one buffer. A server has as many workers as its process has
//! cores. It speaks to its parent as [`server`](super::server) does.

mod exchange;
mod home;
mod load;

pub use load::{Load, OF_ADDRESS, Outcome};

use self::exchange::Exchange;
use super::floor::{Callback, Loops};
use super::server::answer_with;
use super::wire::Wire;
use colored::Builder;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::str::FromStr;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The stack of a thread in bytes, of which two pages are touched.
pub const STACK: usize = 64 << 10;

/// How long a server waits when it cannot accept, for instance because no descriptor is left.
pub const PAUSE: Duration = Duration::from_millis(10);

/// How the handler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// On `colored`.
    Futures,
    /// In poll loops.
    Callbacks,
    /// In threads.
    Threads,
    /// On tokio.
    Tokio,
    /// On `colored`, with a stack for each connection.
    Stackful,
    /// On `colored`, counted.
    Watched,
}

impl Model {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Model::Futures,
        Model::Callbacks,
        Model::Threads,
        Model::Tokio,
        Model::Stackful,
        Model::Watched,
    ];

    /// The name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Model::Futures => "numbered:futures",
            Model::Callbacks => "numbered:callbacks",
            Model::Threads => "numbered:threads",
            Model::Tokio => "numbered:tokio",
            Model::Stackful => "numbered:stackful",
            Model::Watched => "numbered:watched",
        }
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Model::ALL.into_iter().find(|model| model.name() == name);
        found.ok_or_else(|| format!("no server is called {name:?}"))
    }
}

/// Serves until standard input ends.
///
/// # Errors
///
/// If the limit of open files cannot be raised, or a pipe breaks.
///
/// # Panics
///
/// If no port is free, or the system gives no thread or poller.
pub fn main(model: Model) -> io::Result<()> {
    let workers = thread::available_parallelism()?.get();
    main_on(model, workers, Builder::new().workers(workers))
}

/// As [`main`], with this builder where the server is one of `colored`.
///
/// # Errors
///
/// As for [`main`].
///
/// # Panics
///
/// As for [`main`].
pub fn main_on(model: Model, workers: usize, builder: Builder) -> io::Result<()> {
    super::raise_open_files()?;
    let (send, port) = channel();
    thread::spawn(move || match model {
        Model::Futures => on_colored(builder, send, as_future),
        Model::Stackful => on_colored(builder, send, with_stack),
        Model::Watched => on_colored(builder, send, watched),
        Model::Callbacks => callbacks(workers, &send).expect("the loops start"),
        Model::Threads => threads(&send),
        Model::Tokio => on_tokio(workers, send),
    });
    answer_with(port.recv().expect("the server listens"), home::number)
}

fn on_colored(builder: Builder, port: Sender<u16>, serve: fn(colored::net::TcpStream)) {
    builder.build().expect("colored starts").run(async move {
        let listener = colored::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a port is free");
        port.send(listener.local_addr().expect("it is bound").port()).expect("main waits");
        loop {
            // After an error the listener itself waits.
            let Ok((stream, _)) = listener.accept().await else { continue };
            stream.set_nodelay(true).expect("it is a TCP socket");
            serve(stream);
        }
    })
}

fn as_future(stream: colored::net::TcpStream) {
    drop(colored::spawn_unique(answer_async(stream)));
}

fn watched(stream: colored::net::TcpStream) {
    drop(colored::spawn_unique(home::answer_watched(stream)));
}

fn with_stack(stream: colored::net::TcpStream) {
    let stream = colored_stackful::net::TcpStream::from(stream);
    drop(colored_stackful::spawn_unique(move || answer_blocking(stream)));
}

fn on_tokio(workers: usize, port: Sender<u16>) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build();
    let runtime = runtime.expect("tokio starts");
    // The loop is spawned, because a task on a worker wakes its neighbours at a lower cost than `block_on`.
    let accepts = runtime.spawn(async move {
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a port is free");
        port.send(listener.local_addr().expect("it is bound").port()).expect("main waits");
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            stream.set_nodelay(true).expect("it is a TCP socket");
            drop(tokio::spawn(answer_async(stream)));
        }
    });
    runtime.block_on(accepts).expect("accepting does not panic")
}

fn threads(port: &Sender<u16>) {
    let listener = listen(port);
    loop {
        let stream = accept(&listener);
        stream.set_nodelay(true).expect("it is a TCP socket");
        // Without a thread for it the connection is closed, which the client counts as an error.
        let started =
            thread::Builder::new().stack_size(STACK).spawn(move || answer_blocking(stream));
        drop(started);
    }
}

fn callbacks(workers: usize, port: &Sender<u16>) -> io::Result<()> {
    let listener = listen(port);
    Loops::start(workers, &Repeat)?.serve(|| Wire::tcp(accept(&listener)))
}

fn listen(port: &Sender<u16>) -> TcpListener {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    port.send(listener.local_addr().expect("it is bound").port()).expect("main waits");
    listener
}

/// Accepts one connection, however often that fails.
fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept() {
            Ok((stream, _)) => return stream,
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// The handler as a future. A client that goes away, or asks for something else, ends the connection.
async fn answer_async(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    let mut exchange = Exchange::default();
    while let Ok(length @ 1..) = stream.read(exchange.room()).await {
        exchange.take(length);
        loop {
            match exchange.respond() {
                Ok(Some(response)) => {
                    if stream.write_all(response).await.is_err() {
                        return;
                    }
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

/// The handler on a stack of its own, which blocks in `stream`.
pub fn answer_blocking(mut stream: impl Read + Write) {
    let mut exchange = Exchange::default();
    while let Ok(length @ 1..) = stream.read(exchange.room()) {
        exchange.take(length);
        loop {
            match exchange.respond() {
                Ok(Some(response)) => {
                    if stream.write_all(response).is_err() {
                        return;
                    }
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

/// The handler as a callback.
#[derive(Clone)]
struct Repeat;

impl Callback for Repeat {
    type State = Exchange;

    fn goes_on(&self, stream: &mut Wire, exchange: &mut Exchange) -> bool {
        match stream.read(exchange.room()) {
            Ok(0) => return false,
            Ok(length) => exchange.take(length),
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
        loop {
            match exchange.respond() {
                // A client has one request under way, so the socket's buffer has room.
                Ok(Some(response)) => {
                    if !matches!(stream.write(response), Ok(length) if length == response.len()) {
                        return false;
                    }
                }
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }
}
