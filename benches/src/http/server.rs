//! The server process: one service, run in several ways.
//!
//! Its whole interface is a pipe. It prints `PORT <n>` once it listens, 0 for a path; for each line `CPU`
//! it prints `CPU <ns>`, the process's CPU time so far; at end of file it exits, so it cannot
//! outlive its parent process.

use super::floor::Loops;
use super::wire::Wire;
use super::{BODY, FILE, file, floor};
use crate::spin::{PER_MICROSECOND, spin};
use bytes::Bytes;
use colored::net::{TcpStream, UnixListener};
use colored_hyper::ColoredTimer;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::rt::{Read, Timer, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::time::{ClockId, clock_gettime};
use std::convert::Infallible;
use std::io::{self, BufRead, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Microseconds of a core's time for a request in a server with work: about as much as a page that is
/// made from some records. The servers of the papers took some 500: 30 MB/s, in files of 15 kB.
pub const WORK: u64 = 100;

/// How the service runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `colored`, a color of its own for each connection.
    Colored,
    /// `colored` as [Mely's server](super::file) of a file.
    ColoredFile,
    /// A server of a file that only another program has, by its name there.
    Elsewhere(&'static str),
    /// tokio, multi-thread.
    TokioMt,
    /// As many current-thread tokio runtimes as workers, which share the port: the cores share nothing
    /// else, so no load is balanced.
    TokioNCopy,
    /// No runtime and no HTTP library: the limit of the machine.
    Floor,
    /// The same, as a server of a file.
    FloorFile,
    /// `colored`, with [`WORK`] in each request.
    ColoredWork,
    /// The same on tokio, multi-thread.
    TokioWork,
}

impl Kind {
    const ALL: [Self; 8] = [
        Kind::Colored,
        Kind::ColoredFile,
        Kind::TokioMt,
        Kind::TokioNCopy,
        Kind::Floor,
        Kind::FloorFile,
        Kind::ColoredWork,
        Kind::TokioWork,
    ];

    /// Whether it serves only the file.
    const fn serves_file(self) -> bool {
        matches!(self, Kind::ColoredFile | Kind::FloorFile)
    }

    /// The name on a command line and in a result.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Colored => "colored",
            Kind::ColoredFile => "colored_file",
            Kind::Elsewhere(name) => name,
            Kind::TokioMt => "tokio",
            Kind::TokioNCopy => "ncopy",
            Kind::Floor => "floor",
            Kind::FloorFile => "floor_file",
            Kind::ColoredWork => "colored_work",
            Kind::TokioWork => "tokio_work",
        }
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Kind::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| format!("no server is called {name:?}"))
    }
}

/// Serves until standard input ends: at `path`, which only servers of a file use, or at a free port.
///
/// # Errors
///
/// If the limit of open files cannot be raised, a pipe breaks, or a server that is not of a file is given
/// a path.
///
/// # Panics
///
/// If no port is free or a runtime does not start.
pub fn main(kind: Kind, workers: usize, path: Option<PathBuf>) -> io::Result<()> {
    super::raise_open_files()?;
    let (send_port, port) = channel();
    match kind {
        _ if kind.serves_file() => drop(thread::spawn(move || {
            serve_file(kind, workers, path.as_deref(), &send_port).expect("the file is served");
        })),
        _ if path.is_some() => {
            let text = format!("{} listens at a port, not at a path", kind.name());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        Kind::TokioMt => drop(thread::spawn(move || {
            tokio_mt(workers, &send_port, |stream| serve(stream, hello, TokioTimer::new()));
        })),
        Kind::TokioWork => drop(thread::spawn(move || {
            tokio_mt(workers, &send_port, |stream| serve(stream, work, TokioTimer::new()));
        })),
        Kind::TokioNCopy => n_copy(workers, &send_port),
        Kind::Floor => drop(thread::spawn(move || {
            floor_tcp(workers, BODY, &send_port).expect("the loops start");
        })),
        Kind::Colored => drop(thread::spawn(move || {
            colored(
                colored::Runtime::builder().workers(workers),
                accept_tcp(send_port, |stream| serve(stream, hello, ColoredTimer)),
            );
        })),
        Kind::ColoredWork => drop(thread::spawn(move || {
            colored(
                colored::Runtime::builder().workers(workers),
                accept_tcp(send_port, |stream| serve(stream, work, ColoredTimer)),
            );
        })),
        Kind::Elsewhere(name) => {
            let text = format!("this program has no server called {name:?}");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        _ => unreachable!("{kind:?} serves a file"),
    }
    answer(port.recv().expect("the server listens"))
}

/// Tells the parent the port, 0 for a path, and then the CPU time as often as it asks.
///
/// # Errors
///
/// If a pipe breaks.
pub fn answer(port: u16) -> io::Result<()> {
    answer_with(port, |_| None)
}

/// As [`answer`], with more numbers by their words.
pub(super) fn answer_with(port: u16, number: impl Fn(&str) -> Option<u64>) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "PORT {port}")?;
    for word in io::stdin().lock().lines() {
        let word = word?;
        if let Some(number) = number(&word) {
            writeln!(output, "{word} {number}")?;
        } else {
            let time = clock_gettime(ClockId::ProcessCPUTime);
            writeln!(output, "CPU {}", time.tv_sec * 1_000_000_000 + time.tv_nsec)?;
        }
    }
    Ok(())
}

type Answer = Result<Response<Full<Bytes>>, Infallible>;

async fn hello(_: Request<Incoming>) -> Answer {
    Ok(Response::new(Full::new(Bytes::from_static(BODY))))
}

async fn work(request: Request<Incoming>) -> Answer {
    spin(WORK * PER_MICROSECOND);
    hello(request).await
}

/// Serves one connection, with the timer that guards against clients that stop half-way.
async fn serve<F: Future<Output = Answer>>(
    stream: impl Read + Write + Unpin,
    service: fn(Request<Incoming>) -> F,
    timer: impl Timer + Send + Sync + 'static,
) {
    // A client that goes away is no error of the server's.
    let _ = http1::Builder::new().timer(timer).serve_connection(stream, service_fn(service)).await;
}

fn serve_file(
    kind: Kind,
    workers: usize,
    path: Option<&Path>,
    port: &Sender<u16>,
) -> io::Result<()> {
    match (kind, path) {
        (Kind::FloorFile, None) => floor_tcp(workers, FILE, port),
        (Kind::FloorFile, Some(path)) => {
            let listener = unix::net::UnixListener::bind(path)?;
            let loops = Loops::start(workers, &floor::with_body(FILE))?;
            port.send(0).expect("main waits");
            loops.serve(|| Wire::unix(listener.accept()?.0))
        }
        (_, path) => {
            serve_file_on(colored::Runtime::builder().workers(workers), path, port);
            Ok(())
        }
    }
}

/// Serves the file on `colored`, at `path` or at a free port, which it sends; 0 for a path. It does not return.
///
/// # Panics
///
/// If the runtime does not start, or nothing can be bound.
pub fn serve_file_on(builder: colored::Builder, path: Option<&Path>, port: &Sender<u16>) {
    match path {
        None => colored(builder, accept_tcp(port.clone(), file::serve)),
        Some(path) => colored(builder, accept_unix(path.to_owned(), port.clone())),
    }
}

fn floor_tcp(workers: usize, body: &[u8], port: &Sender<u16>) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let loops = Loops::start(workers, &floor::with_body(body))?;
    port.send(listener.local_addr()?.port()).expect("main waits");
    loops.serve(|| Wire::tcp(listener.accept()?.0))
}

/// Runs a server on `colored`.
fn colored(builder: colored::Builder, accept: impl Future<Output = ()> + Send + 'static) {
    builder.build().expect("colored starts").run(accept);
}

async fn accept_tcp<F: Future<Output = ()> + Send + 'static>(
    port: Sender<u16>,
    serve: fn(TcpStream) -> F,
) {
    let listener = colored::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.expect("a port is free");
    port.send(listener.local_addr().expect("it is bound").port()).expect("main waits");
    loop {
        let (stream, _) = listener.accept().await.expect("files enough");
        stream.set_nodelay(true).expect("it is a TCP socket");
        drop(colored::spawn_unique(serve(stream)));
    }
}

async fn accept_unix(path: PathBuf, port: Sender<u16>) {
    let listener = UnixListener::bind(path).expect("the path is free");
    port.send(0).expect("main waits");
    loop {
        let (stream, _) = listener.accept().await.expect("files enough");
        drop(colored::spawn_unique(file::serve(stream)));
    }
}

fn tokio_mt<F: Future<Output = ()> + Send + 'static>(
    workers: usize,
    port: &Sender<u16>,
    serve: fn(TokioIo<tokio::net::TcpStream>) -> F,
) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()
        .expect("tokio starts");
    let listener = listen_shared(0);
    port.send(listener.local_addr().expect("it is bound").port()).expect("main waits");
    // The loop is spawned, because a task on a worker wakes its neighbours at a lower cost than
    // `block_on`.
    let accept = accept_tokio(listener, serve);
    runtime.block_on(runtime.spawn(accept)).expect("accepting does not panic");
}

fn n_copy(copies: usize, port: &Sender<u16>) {
    let first = listen_shared(0);
    let number = first.local_addr().expect("it is bound").port();
    let others = (1..copies).map(|_| listen_shared(number));
    for listener in [first].into_iter().chain(others.collect::<Vec<_>>()) {
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let serve = |stream| serve(stream, hello, TokioTimer::new());
            runtime.expect("tokio starts").block_on(accept_tokio(listener, serve));
        });
    }
    port.send(number).expect("main waits");
}

async fn accept_tokio<F: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    serve: fn(TokioIo<tokio::net::TcpStream>) -> F,
) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("it is non-blocking");
    loop {
        let (stream, _) = listener.accept().await.expect("files enough");
        stream.set_nodelay(true).expect("it is a TCP socket");
        drop(tokio::spawn(serve(TokioIo::new(stream))));
    }
}

/// A listener on `port` that other listeners may share.
fn listen_shared(port: u16) -> TcpListener {
    use socket2::{Domain, Protocol, Socket, Type};
    let open = || -> io::Result<TcpListener> {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(true)?;
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into())?;
        socket.listen(1_024)?;
        socket.set_nonblocking(true)?;
        Ok(socket.into())
    };
    open().expect("the port can be shared")
}
