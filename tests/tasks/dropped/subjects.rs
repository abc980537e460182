//! The futures that the runtime's users await, each with the target of its wait.

use colored::admission::Admission;
use colored::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream, UnixListener, UnixStream, lookup_host};
use colored::stage::{Batch, Builder, Events, Graph, Stage};
use colored::sync::{Mutex, Notify, Semaphore, mpsc, oneshot};
use colored::task::{FutureExt as _, unconstrained};
use colored::time::{Instant, interval_at, sleep, timeout};
use colored::{
    Color, ColorCell, Handle, Limit, PinnedCell, Runtime, checked_when, exclusive, hop, shared,
    spawn_colored, when, yield_now,
};
use colored_tests::gate::Gate;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net as unix;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use std::{env, fs, io, net, process, thread};

type Waiting = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A future, and the target of its wait.
pub(super) struct Subject {
    pub(super) future: Waiting,
    /// Ends the wait, if it does not end by itself; also when the future is gone.
    pub(super) ready: Box<dyn FnOnce() + Send>,
    /// A check that must pass when the future has been dropped and the wait is over.
    pub(super) check: Box<dyn FnOnce(&Runtime) + Send>,
    /// Whether the first poll finds that it has to wait.
    pub(super) waits: bool,
    /// The stage that the future waits for room in.
    pub(super) stage: Option<Stage<u32>>,
}

/// Makes a subject in a runtime that has been entered. Its future, and the closures that it hands on, own the token.
pub(super) type Make = fn(&Runtime, Arc<()>) -> Subject;

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);

/// Long enough for a poll and a drop before, usually also on a busy machine.
const SHORT: Duration = Duration::from_millis(30);

impl Subject {
    /// A future that waits, and owns the token.
    fn waits<F: Future + Send + 'static>(
        token: Arc<()>,
        future: F,
        ready: impl FnOnce() + Send + 'static,
        check: impl FnOnce(&Runtime) + Send + 'static,
    ) -> Self {
        let future = async move {
            let _token = token;
            let _output = future.await;
        };
        let (ready, check) = (Box::new(ready), Box::new(check));
        Self { future: Box::pin(future), ready, check, waits: true, stage: None }
    }

    /// The future need not wait: that depends on the system, or on the time.
    fn perhaps(self) -> Self {
        Self { waits: false, ..self }
    }
}

/// The subjects that may be polled anywhere.
pub(super) const ALL: &[(&str, Make)] = &[
    ("sleep", slept),
    ("Interval::tick", ticked),
    ("timeout", timed),
    ("timeout of what is ready first", timed_but_ready),
    ("JoinHandle", joined),
    ("JoinHandle of spawn_blocking", joined_blocking),
    ("FutureExt::colored", joined_colored),
    ("TcpListener::accept", tcp_accept),
    ("TcpStream::connect", tcp_connect),
    ("TcpStream, read", |_, token| reads(token, tcp_pair())),
    ("TcpStream, write", |_, token| writes(token, tcp_pair())),
    ("TcpStream::readable", tcp_readable),
    ("TcpStream::writable", tcp_writable),
    ("UnixListener::accept", unix_accept),
    ("UnixStream::connect", unix_connect),
    ("UnixStream, read", |_, token| reads(token, unix_pair())),
    ("UnixStream, write", |_, token| writes(token, unix_pair())),
    ("lookup_host", looked_up),
    ("ColorCell::call", |runtime, token| {
        at_cell(runtime, token, |cell, token| async move { cell.call(|n| add(n, token)).await })
    }),
    ("ColorCell::checked_call", |runtime, token| {
        at_cell(
            runtime,
            token,
            |cell, token| async move { cell.checked_call(|n| add(n, token)).await },
        )
    }),
    ("ColorCell::read", |runtime, token| {
        at_cell(runtime, token, |cell, token| async move { cell.read(|n| look(n, token)).await })
    }),
    ("ColorCell::checked_read", |runtime, token| {
        at_cell(
            runtime,
            token,
            |cell, token| async move { cell.checked_read(|n| look(n, token)).await },
        )
    }),
    ("when over one cell", |runtime, token| {
        at_cell(
            runtime,
            token,
            |cell, token| async move { when((&cell,), |n| add(n, token)).await },
        )
    }),
    ("when over two cells", |runtime, token| {
        let blue = runtime.handle().cell(BLUE, 0);
        at_cell(runtime, token, move |red, token| async move {
            when((&blue, &red), |_, n| add(n, token)).await;
        })
    }),
    ("checked_when over a row", |runtime, token| {
        let blue = runtime.handle().cell(BLUE, 0);
        at_cell(runtime, token, move |red, token| async move {
            checked_when([blue, red], |_| drop(token)).await
        })
    }),
    ("when that only reads", |runtime, token| {
        let blue = runtime.handle().cell(BLUE, 0);
        at_cell(runtime, token, move |red, token| async move {
            when((blue.shared(), red.shared()), |_, n| look(n, token)).await;
        })
    }),
    ("when that reads a row", |runtime, token| {
        let blue = runtime.handle().cell(BLUE, 0);
        at_cell(runtime, token, move |red, token| async move {
            when(shared([blue, red]), |_| drop(token)).await;
        })
    }),
    ("PinnedCell::call", |runtime, token| {
        at_pinned(runtime, token, |cell, token| async move { cell.call(|n| add(n, token)).await })
    }),
    ("PinnedCell::checked_call", |runtime, token| {
        at_pinned(runtime, token, |cell, token| async move {
            cell.checked_call(|n| add(n, token)).await
        })
    }),
    ("Limit::reserve", |runtime, token| {
        at_limit(runtime, token, |limit, _| async move { limit.reserve().await.map(drop) })
    }),
    ("Limit::checked_reserve", |runtime, token| {
        at_limit(runtime, token, |limit, _| async move { limit.checked_reserve().await.map(drop) })
    }),
    ("Limit::spawn", |runtime, token| {
        at_limit(runtime, token, |limit, token| async move {
            let _spawned = limit.spawn(async move { drop(token) }).await;
        })
    }),
    ("LimitedCell::call", |runtime, token| {
        at_limit(runtime, token, |limit, token| async move {
            let _called = limit.cell(0).call(|n| add(n, token)).await;
        })
    }),
    ("Stage::send", sent),
    ("Stage::drained", drained),
    ("Graph::drain", graph_drained),
    ("Admitted::run", admitted),
    ("Mutex::lock", locked),
    ("Notify::notified", notified),
    ("Semaphore::acquire", acquired),
    ("mpsc::Sender::send", channel_sent),
    ("LocalKey::scope", scoped),
    ("unconstrained", |_, token| inside(token, unconstrained)),
];

/// The subjects that are polled only in a task.
pub(super) const IN_TASKS: &[(&str, Make)] = &[
    ("hop", |runtime, token| hopped(runtime, token, hop(RED))),
    ("yield_now", |_, token| Subject::waits(token, yield_now(), || (), |_| ())),
    ("exclusive", |_, token| inside(token, exclusive)),
    ("call inside exclusive", |runtime, token| {
        at_cell(runtime, token, |cell, token| {
            exclusive(async move { cell.call(|n| add(n, token)).await })
        })
    }),
];

fn add(n: &mut u32, token: Arc<()>) {
    *n += 1;
    drop(token);
}

fn look(n: &u32, token: Arc<()>) -> u32 {
    drop(token);
    *n
}

/// The color goes on.
fn run_a_task(runtime: &Runtime, color: Color) {
    runtime.block_on(runtime.spawn_colored(color, async {})).unwrap();
}

fn slept(_: &Runtime, token: Arc<()>) -> Subject {
    let again = |runtime: &Runtime| runtime.block_on(async { sleep(SHORT / 30).await });
    Subject::waits(token, sleep(SHORT), || (), again).perhaps()
}

fn ticked(_: &Runtime, token: Arc<()>) -> Subject {
    let mut ticks = interval_at(Instant::now() + SHORT, SHORT);
    Subject::waits(token, async move { ticks.tick().await }, || (), |_| ()).perhaps()
}

fn timed(_: &Runtime, token: Arc<()>) -> Subject {
    let never = timeout(SHORT, std::future::pending::<()>());
    Subject::waits(token, never, || (), |_| ()).perhaps()
}

fn timed_but_ready(_: &Runtime, token: Arc<()>) -> Subject {
    inside(token, |waits| timeout(Duration::from_secs(3600), waits))
}

/// Gives the sign, also when nobody waits for it any more.
fn tell(sign: oneshot::Sender<()>) -> impl FnOnce() + Send + 'static {
    || {
        let _gone = sign.send(());
    }
}

/// A future around another one, which is woken.
fn inside<F, G>(token: Arc<()>, around: impl FnOnce(oneshot::Receiver<()>) -> G) -> Subject
where
    G: Future<Output = F> + Send + 'static,
{
    let (sign, told) = oneshot::channel();
    Subject::waits(token, around(told), tell(sign), |_| ())
}

/// A task whose handle was dropped is detached, and ends.
fn joined(_: &Runtime, token: Arc<()>) -> Subject {
    let (sign, told) = oneshot::channel();
    let done = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&done);
    let task = spawn_colored(RED, async move {
        let _told: Result<(), _> = told.await;
        count.fetch_add(1, Ordering::Relaxed);
    });
    let ended = move |runtime: &Runtime| {
        while done.load(Ordering::Relaxed) == 0 {
            run_a_task(runtime, RED);
        }
    };
    Subject::waits(token, task, tell(sign), ended)
}

/// Its task is aborted: the value that it waits for need not come.
fn joined_colored(_: &Runtime, token: Arc<()>) -> Subject {
    let (sign, told) = oneshot::channel::<()>();
    let inside = Arc::clone(&token);
    let task = async move {
        let _inside = inside;
        let _told: Result<(), _> = told.await;
    };
    Subject::waits(token, task.colored(RED), tell(sign), |runtime| run_a_task(runtime, RED))
}

fn joined_blocking(runtime: &Runtime, token: Arc<()>) -> Subject {
    let (tell, told) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel();
    let task = runtime.spawn_blocking(move || {
        let _told: Result<(), _> = told.recv();
        end.send(()).is_ok()
    });
    Subject::waits(
        token,
        task,
        move || {
            let _gone = tell.send(());
        },
        move |_| ended.recv().unwrap(),
    )
}

fn tcp_accept(_: &Runtime, token: Arc<()>) -> Subject {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let listener = Arc::new(TcpListener::from_std(listener).unwrap());
    let again = Arc::clone(&listener);
    let accept = async move { listener.accept().await.map(drop) };
    let check = move |runtime: &Runtime| {
        let _client = net::TcpStream::connect(addr).unwrap();
        runtime.block_on(again.accept()).unwrap();
    };
    Subject::waits(token, accept, move || drop(net::TcpStream::connect(addr)), check)
}

/// A connect to a listener that does not accept.
fn tcp_connect(_: &Runtime, token: Arc<()>) -> Subject {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let again = move |runtime: &Runtime| {
        let _stream = runtime.block_on(TcpStream::connect(addr)).unwrap();
        drop(listener);
    };
    Subject::waits(token, TcpStream::connect(addr), || (), again).perhaps()
}

/// One end for the future, the other for the test: for what ends the wait, and for the check.
fn tcp_pair() -> (TcpStream, [net::TcpStream; 2]) {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let theirs = net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let ours = TcpStream::from_std(listener.accept().unwrap().0).unwrap();
    (ours, [theirs.try_clone().unwrap(), theirs])
}

fn unix_pair() -> (UnixStream, [unix::UnixStream; 2]) {
    let (ours, theirs) = unix::UnixStream::pair().unwrap();
    (UnixStream::from_std(ours).unwrap(), [theirs.try_clone().unwrap(), theirs])
}

/// The future has the stream: with it, the stream is closed.
fn reads<O, T>(token: Arc<()>, (mut ours, [mut theirs, mut peer]): (O, [T; 2])) -> Subject
where
    O: AsyncRead + Unpin + Send + 'static,
    T: Read + Write + Send + 'static,
{
    let read = async move { ours.read_u8().await };
    let ready = move || drop(peer.write_all(b"x"));
    Subject::waits(token, read, ready, move |_| expect_closed(&mut theirs))
}

fn writes<O, T>(token: Arc<()>, (mut ours, [mut theirs, mut peer]): (O, [T; 2])) -> Subject
where
    O: AsyncWrite + Unpin + Send + 'static,
    T: Read + Send + 'static,
{
    let write = async move { while ours.write_all(&[0; 1 << 16]).await.is_ok() {} };
    let ready = move || until_empty(&mut peer);
    Subject::waits(token, write, in_time(ready), move |_| expect_closed(&mut theirs))
}

/// Runs on a thread of its own, because the wait may never end when the future has been dropped.
fn in_time(f: impl FnOnce() + Send + 'static) -> impl FnOnce() + Send + 'static {
    || drop(thread::spawn(f))
}

/// Reads what there is, and until the other end is closed.
fn until_empty(stream: &mut impl Read) {
    let _gone = stream.read_to_end(&mut Vec::new());
}

/// The other end is closed.
fn expect_closed(stream: &mut impl Read) {
    // Data that was sent before may be lost with it.
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset),
    }
}

/// The stream has another owner, which goes on with it.
fn tcp_readable(_: &Runtime, token: Arc<()>) -> Subject {
    let (ours, [mut theirs, mut peer]) = tcp_pair();
    let ours = Arc::new(ours);
    let again = Arc::clone(&ours);
    // A new socket is taken for ready until it has been tried.
    assert!(ours.try_read(&mut [0]).is_err());
    let check = move |runtime: &Runtime| {
        theirs.write_all(b"y").unwrap();
        runtime.block_on(again.readable()).unwrap();
        assert_eq!(again.try_read(&mut [0]).unwrap(), 1);
    };
    let readable = async move { ours.readable().await };
    Subject::waits(token, readable, move || drop(peer.write_all(b"x")), check).perhaps()
}

fn tcp_writable(_: &Runtime, token: Arc<()>) -> Subject {
    let (ours, [mut theirs, mut peer]) = tcp_pair();
    let ours = Arc::new(ours);
    let again = Arc::clone(&ours);
    let full = async move {
        loop {
            ours.writable().await?;
            match ours.try_write(&[0; 1 << 16]) {
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
                _ => {}
            }
        }
        #[expect(unreachable_code, reason = "it tells the type of the errors")]
        io::Result::Ok(())
    };
    let ready = move || until_empty(&mut peer);
    let check = move |runtime: &Runtime| {
        let reader = thread::spawn(move || theirs.read_to_end(&mut Vec::new()).unwrap());
        runtime.block_on(async {
            again.writable().await.unwrap();
            again.shutdown_with(Shutdown::Write).unwrap();
        });
        reader.join().unwrap();
    };
    Subject::waits(token, full, in_time(ready), check)
}

/// A path of its own, which is free again when this is dropped.
struct Path(std::path::PathBuf);

impl Path {
    fn new() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self(env::temp_dir().join(format!("colored-dropped-{}-{number}", process::id())))
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn unix_accept(_: &Runtime, token: Arc<()>) -> Subject {
    let path = Arc::new(Path::new());
    let listener = Arc::new(UnixListener::bind(&path.0).unwrap());
    let (again, other) = (Arc::clone(&listener), Arc::clone(&path));
    let accept = async move { listener.accept().await.map(drop) };
    let check = move |runtime: &Runtime| {
        let _client = unix::UnixStream::connect(&path.0).unwrap();
        runtime.block_on(again.accept()).unwrap();
    };
    Subject::waits(token, accept, move || drop(unix::UnixStream::connect(&other.0)), check)
}

fn unix_connect(_: &Runtime, token: Arc<()>) -> Subject {
    let path = Path::new();
    let listener = unix::UnixListener::bind(&path.0).unwrap();
    let connect = UnixStream::connect(path.0.clone());
    let again = move |runtime: &Runtime| {
        let _stream = runtime.block_on(UnixStream::connect(&path.0)).unwrap();
        drop(listener);
    };
    Subject::waits(token, connect, || (), again).perhaps()
}

fn looked_up(_: &Runtime, token: Arc<()>) -> Subject {
    let look = async { lookup_host("localhost:1").await.map(Iterator::count) };
    let again = |runtime: &Runtime| {
        assert!(runtime.block_on(lookup_host("localhost:1")).unwrap().count() > 0);
    };
    Subject::waits(token, look, || (), again).perhaps()
}

/// Access to a cell whose color is busy.
fn at_cell<F: Future + Send + 'static>(
    runtime: &Runtime,
    token: Arc<()>,
    access: impl FnOnce(ColorCell<u32>, Arc<()>) -> F,
) -> Subject {
    let cell = runtime.handle().cell(RED, 0);
    let gate = Gate::close(runtime.handle(), RED);
    let future = access(cell.clone(), Arc::clone(&token));
    let check = move |runtime: &Runtime| {
        assert!(runtime.block_on(cell.call(|n| *n)) <= 1);
        assert!(runtime.block_on(cell.read(|n| *n)) <= 1);
        run_a_task(runtime, RED);
    };
    Subject::waits(token, future, move || gate.open(), check)
}

fn at_pinned<F: Future + Send + 'static>(
    runtime: &Runtime,
    token: Arc<()>,
    access: impl FnOnce(PinnedCell<u32>, Arc<()>) -> F,
) -> Subject {
    let cell = runtime.handle().pinned_cell(0, RED, || 0).unwrap();
    let gate = Gate::close(runtime.handle(), RED);
    let future = access(cell.clone(), Arc::clone(&token));
    let check = move |runtime: &Runtime| {
        assert!(runtime.block_on(cell.call(|n| *n)) <= 1);
        run_a_task(runtime, RED);
    };
    Subject::waits(token, future, move || gate.open(), check)
}

/// A wait for room in a full limit.
fn at_limit<F: Future + Send + 'static>(
    runtime: &Runtime,
    token: Arc<()>,
    enter: impl FnOnce(Limit, Arc<()>) -> F,
) -> Subject {
    let limit = runtime.handle().limit(RED, 1);
    let permit = limit.try_reserve().unwrap();
    let future = enter(limit.clone(), Arc::clone(&token));
    let check = move |runtime: &Runtime| {
        // A task that was admitted has yet to run.
        runtime.block_on(async { drop(limit.reserve().await.unwrap()) });
        assert_eq!((limit.depth(), limit.waiting()), (0, 0));
        run_a_task(runtime, RED);
    };
    Subject::waits(token, future, move || drop(permit), check)
}

/// A stage that handles nothing before the gate is open.
fn full(handle: &Handle) -> (Stage<u32>, Gate) {
    let gate = Gate::close(handle, RED);
    let stage = Builder::new()
        .capacity(1)
        .color(RED)
        .batch(Batch::Fixed(1))
        .build(|_: Events<u32>| async {});
    stage.try_send(1).unwrap();
    (stage, gate)
}

fn sent(runtime: &Runtime, token: Arc<()>) -> Subject {
    let (stage, gate) = full(runtime.handle());
    let (again, kept) = (stage.clone(), Some(stage.clone()));
    let check = move |runtime: &Runtime| {
        runtime.block_on(again.send(3)).unwrap();
        again.close();
        runtime.block_on(again.drained());
        assert_eq!((again.metrics().senders, again.metrics().lost, again.depth()), (0, 0, 0));
    };
    let send = async move { stage.send(2).await };
    Subject { stage: kept, ..Subject::waits(token, send, move || gate.open(), check) }
}

fn drained(runtime: &Runtime, token: Arc<()>) -> Subject {
    let (stage, gate) = full(runtime.handle());
    stage.close();
    let again = stage.clone();
    let check = move |runtime: &Runtime| runtime.block_on(again.drained());
    Subject::waits(token, async move { stage.drained().await }, move || gate.open(), check)
}

fn graph_drained(runtime: &Runtime, token: Arc<()>) -> Subject {
    let (stage, gate) = full(runtime.handle());
    let mut graph = Graph::new();
    graph.add("one", stage.clone());
    let check = move |runtime: &Runtime| {
        stage.close();
        runtime.block_on(stage.drained());
        assert_eq!(stage.metrics().handled, 1);
    };
    Subject::waits(token, graph.drain(), move || gate.open(), check)
}

fn admitted(_: &Runtime, token: Arc<()>) -> Subject {
    let admission = Admission::new(Duration::from_secs(60));
    let permit = admission.admit().unwrap();
    let subject = inside(token, |waits| permit.run(waits));
    let check = move |_: &Runtime| {
        let metrics = admission.metrics();
        assert_eq!((metrics.waiting, metrics.running), (0, 0), "{metrics:?}");
    };
    Subject { check: Box::new(check), ..subject }
}

fn locked(_: &Runtime, token: Arc<()>) -> Subject {
    let mutex = Arc::new(Mutex::new(()));
    let held = Arc::clone(&mutex).try_lock_owned().unwrap();
    let again = Arc::clone(&mutex);
    let check = move |runtime: &Runtime| drop(runtime.block_on(again.lock()));
    Subject::waits(token, async move { drop(mutex.lock().await) }, move || drop(held), check)
}

fn notified(_: &Runtime, token: Arc<()>) -> Subject {
    let notify = Arc::new(Notify::new());
    let (again, ready) = (Arc::clone(&notify), Arc::clone(&notify));
    let check = move |runtime: &Runtime| {
        again.notify_one();
        runtime.block_on(again.notified());
    };
    Subject::waits(token, async move { notify.notified().await }, move || ready.notify_one(), check)
}

fn acquired(_: &Runtime, token: Arc<()>) -> Subject {
    let semaphore = Arc::new(Semaphore::new(1));
    let held = Arc::clone(&semaphore).try_acquire_owned().unwrap();
    let again = Arc::clone(&semaphore);
    let check = move |_: &Runtime| assert_eq!(again.available_permits(), 1);
    let acquire = async move { semaphore.acquire().await.map(drop) };
    Subject::waits(token, acquire, move || drop(held), check)
}

fn channel_sent(_: &Runtime, token: Arc<()>) -> Subject {
    let (sender, receiver) = mpsc::channel(1);
    let receiver = Arc::new(std::sync::Mutex::new(receiver));
    sender.try_send(1).unwrap();
    let (again, ready) = (sender.clone(), Arc::clone(&receiver));
    let check = move |_: &Runtime| {
        let mut receiver = receiver.lock().unwrap();
        while receiver.try_recv().is_ok() {}
        again.try_send(3).unwrap();
    };
    let send = async move { sender.send(2).await };
    Subject::waits(
        token,
        send,
        move || {
            let _one = ready.lock().unwrap().try_recv();
        },
        check,
    )
}

fn scoped(_: &Runtime, token: Arc<()>) -> Subject {
    colored::task_local! {
        static KEPT: Arc<()>;
    }
    let value = Arc::clone(&token);
    inside(token, |waits| KEPT.scope(value, waits))
}

fn hopped<F>(_: &Runtime, token: Arc<()>, hop: F) -> Subject
where
    F: Future + Send + 'static,
{
    Subject::waits(token, hop, || (), |runtime: &Runtime| run_a_task(runtime, RED))
}
