//! Servers to talk to, and raw connections to talk with.

use bytes::Bytes;
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored::sync::{Notify, oneshot};
use colored::time::{Duration, timeout};
use colored::{Color, JoinHandle};
use colored_hyper::{ClientStream, ColoredExecutor, Connector, DrainTimeout, Listener, Serve};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::Client;
use std::convert::Infallible;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use tower_service::Service;

pub(crate) type Answer = Result<Response<Full<Bytes>>, Infallible>;
pub(crate) type Pool = Client<Connector, Full<Bytes>>;

/// Far longer than any wait in these tests should be.
pub(crate) const LONG: Duration = Duration::from_secs(20);
/// The time that a test waits for a time-out.
pub(crate) const SHORT: Duration = Duration::from_millis(100);

/// A server that runs until it is told to stop.
pub(crate) struct Server {
    pub(crate) addr: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), DrainTimeout>>,
}

/// Starts the server that `make` makes of a listener on a free port.
pub(crate) async fn start<L, M>(make: impl FnOnce(TcpListener) -> Serve<L, M>) -> Server
where
    L: Listener,
    Serve<L, M>: IntoFuture<Output = Result<(), DrainTimeout>>,
    <Serve<L, M> as IntoFuture>::IntoFuture: Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    Server::run(addr, |stopped| {
        make(listener).with_graceful_shutdown(async { drop(stopped.await) }).into_future()
    })
}

impl Server {
    /// A server that runs until `serve` ends, which gets what tells it to stop.
    pub(crate) fn run<F>(addr: SocketAddr, serve: impl FnOnce(oneshot::Receiver<()>) -> F) -> Server
    where
        F: Future<Output = Result<(), DrainTimeout>> + Send + 'static,
    {
        let (stop, stopped) = oneshot::channel();
        Server { addr, stop, task: colored::spawn_unique(serve(stopped)) }
    }

    pub(crate) fn uri(&self) -> Uri {
        format!("http://{}/", self.addr).parse().unwrap()
    }

    /// Gives the signal.
    pub(crate) fn stop(self) -> JoinHandle<Result<(), DrainTimeout>> {
        self.stop.send(()).unwrap();
        self.task
    }

    /// Gives the signal and waits for the end.
    pub(crate) async fn end(self) {
        within(self.stop()).await.unwrap().unwrap();
    }
}

/// The output of `future`, which must not take long.
pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    timeout(LONG, future).await.expect("this takes too long")
}

/// Says which color the request runs under.
pub(crate) async fn color(_: Request<Incoming>) -> Answer {
    let color = Color::current().expect("a request has a color");
    Ok(Response::new(Full::from(color.to_string())))
}

/// Gives the body of the request back.
pub(crate) async fn echo(request: Request<Incoming>) -> Answer {
    let body = request.into_body().collect().await.unwrap().to_bytes();
    Ok(Response::new(Full::from(body)))
}

pub(crate) fn post(uri: Uri, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::post(uri).body(Full::from(body.into())).unwrap()
}

pub(crate) async fn text(response: Response<Incoming>) -> String {
    let bytes = within(response.into_body().collect()).await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// One HTTP/1 connection. A pool may open a second one: it gets the first back a little after the
/// response has been read.
pub(crate) async fn http1(server: &Server) -> http1::SendRequest<Full<Bytes>> {
    let stream: ClientStream = Connector::new().call(server.uri()).await.unwrap();
    let (send, connection) = http1::handshake(stream.into_inner()).await.unwrap();
    drop(colored::spawn_unique(connection));
    send
}

/// One HTTP/2 connection. All of its tasks share a color: hyper's client fails a request that it
/// is still sending when the server says that it goes away.
pub(crate) async fn http2(server: &Server) -> http2::SendRequest<Full<Bytes>> {
    let stream: ClientStream = Connector::new().call(server.uri()).await.unwrap();
    let color = Color::unique();
    let executor = ColoredExecutor::fixed(color);
    let (send, connection) = http2::handshake(executor, stream.into_inner()).await.unwrap();
    drop(colored::spawn_colored(color, connection));
    send
}

/// One raw connection.
pub(crate) async fn raw(server: &Server) -> TcpStream {
    within(TcpStream::connect(server.addr)).await.unwrap()
}

/// Sends `request` and reads one response that ends with `end`.
pub(crate) async fn exchange(stream: &mut TcpStream, request: &str, end: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    while !response.ends_with(end.as_bytes()) {
        let n = within(stream.read_buf(&mut response)).await.unwrap();
        assert!(n > 0, "closed after {:?}", String::from_utf8_lossy(&response));
    }
    String::from_utf8(response).unwrap()
}

/// Everything until the server closes, gently or not.
pub(crate) async fn rest(stream: &mut TcpStream) -> String {
    let mut rest = Vec::new();
    drop(within(stream.read_to_end(&mut rest)).await);
    String::from_utf8_lossy(&rest).into_owned()
}

/// A list to be filled by closures.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, line: impl ToString) {
        self.0.lock().unwrap().push(line.to_string());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// Waits for the first line.
    pub(crate) async fn first(&self) -> String {
        within(async {
            loop {
                if let Some(line) = self.lines().into_iter().next() {
                    return line;
                }
                colored::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await
    }
}

/// The number of the system's error that is nearest in the chain of sources.
pub(crate) fn number(mut error: &(dyn Error + 'static)) -> Option<i32> {
    loop {
        let number = error.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error);
        if number.is_some() {
            return number;
        }
        error = error.source()?;
    }
}

/// Counts how many are inside at once.
#[derive(Default)]
pub(crate) struct Inside {
    now: AtomicUsize,
    pub(crate) most: AtomicUsize,
}

impl Inside {
    /// Stays inside, without awaiting, until another request comes or the time is over.
    pub(crate) fn stay(&self, limit: Duration) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let begin = std::time::Instant::now();
        while begin.elapsed() < limit && self.most.load(Ordering::SeqCst) == 1 {
            std::thread::yield_now();
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Lets a handler wait until the test says so.
#[derive(Clone, Default)]
pub(crate) struct Gate {
    pub(crate) entered: Arc<Notify>,
    open: Arc<Notify>,
    color: Arc<OnceLock<Option<Color>>>,
}

impl Gate {
    /// Waits at the gate.
    pub(crate) async fn enter(&self) {
        self.color.get_or_init(Color::current);
        self.entered.notify_one();
        self.open.notified().await;
    }

    /// Opens the gate, under the color of the handler that came first if it has one: when the poll in which it entered has
    /// ended, and after all that was scheduled for it since.
    pub(crate) fn open(&self) {
        let open = Arc::clone(&self.open);
        match *self.color.get().expect("a handler waits") {
            Some(color) => drop(colored::spawn_colored(color, async move { open.notify_one() })),
            None => open.notify_one(),
        }
    }

    pub(crate) fn service(
        &self,
    ) -> impl hyper::service::Service<
        Request<Incoming>,
        Response = Response<Full<Bytes>>,
        Error = Infallible,
        Future: Send + 'static,
    > + Clone
    + Send
    + 'static {
        let gate = self.clone();
        service_fn(move |_| {
            let gate = gate.clone();
            async move {
                gate.enter().await;
                Ok(Response::new(Full::from("late")))
            }
        })
    }
}

/// The usual one, and another where `COLORED_LONG_TESTS` asks for all.
pub(crate) fn by_length<T>(usually: T, weekly: T) -> T {
    if std::env::var_os("COLORED_LONG_TESTS").is_some() { weekly } else { usually }
}

/// Runs an ignored test of this program alone in a process: what it measures is of the whole process.
#[cfg(target_os = "linux")]
pub(crate) fn run_alone(test: &str) {
    let this = std::env::current_exe().unwrap();
    let run =
        std::process::Command::new(this).args(["--exact", "--ignored", test]).output().unwrap();
    let (out, error) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success() && out.contains("1 passed"), "{out}\n{error}");
}
