//! How runs fail, and what a simulation refuses.

use super::{failure, passes};
use colored::net::TcpListener;
use colored::sim::{Builder, Report, host, shared};
use colored::time::{Duration, sleep};
use colored::{ColorCell, Handle, fs, spawn, spawn_blocking, spawn_colored, yield_now};
use colored_tests::{join_all, panic_of};
use std::env;
use std::future::{Ready, pending};
use std::io::{BufRead, BufReader, ErrorKind};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Wake};
use std::thread;

#[test]
fn a_program_that_hangs_fails() {
    let found = failure(pending::<()>);
    assert_eq!(found.message(), "the main future waits, nothing is runnable, and no timer is due");
    assert_eq!(found.choices(), 0);
}

#[test]
fn a_program_that_does_not_end_fails() {
    let report = Builder::new().max_turns(500).run(|| async {
        loop {
            yield_now().await;
        }
    });
    let message = report.failure().unwrap().message().to_owned();
    assert_eq!(message, "the main future has not ended after 500 turns");
}

const SECOND: Duration = Duration::from_secs(1);

/// Panics when it is dropped.
#[derive(Default)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("unheard");
    }
}

/// Panics when it is woken.
struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("unheard");
    }
}

/// Something panics, and nobody hears of it.
async fn panic_unheard(what: &str) {
    match what {
        "a task" => drop(spawn_colored(1, async { panic!("unheard") })),
        "a posted closure" => ColorCell::new(1, 0).post(|_| panic!("unheard")),
        "a blocking call" => drop(spawn_blocking(|| panic!("unheard"))),
        "a waker" => {
            let (mut sleep, waker) = (Box::pin(sleep(SECOND)), Arc::new(Panics).into());
            assert!(sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            colored::time::sleep(SECOND).await;
        }
        "a task that ends with the run" => {
            let bomb = Bomb;
            drop(spawn(async { drop((pending::<()>().await, bomb)) }));
        }
        "a value of a cell that ends with the run" => {
            let cell = ColorCell::new(1, Bomb);
            drop(spawn(async { drop((pending::<()>().await, cell)) }));
        }
        "what hosts share" => drop(shared::<Bomb>()),
        _ => unreachable!("{what}"),
    }
    sleep(SECOND).await;
}

#[test]
fn a_panic_of_which_nobody_hears_fails_the_run() {
    let builder = Builder::new().seeds(0..10);
    let fails = |what: &str, report: Report| {
        let found = report.failure().unwrap_or_else(|| panic!("{what}: {report}"));
        assert_eq!(found.differs(), None, "{what}: {found}");
        let message = found.message();
        assert!(message.starts_with("unheard\n  at tests/sim/limits.rs"), "{what}: {found}");
    };
    for what in [
        "a task",
        "a posted closure",
        "a blocking call",
        "a waker",
        "a task that ends with the run",
        "a value of a cell that ends with the run",
        "what hosts share",
    ] {
        fails(what, builder.clone().run(|| panic_unheard(what)));
    }
    fails("the closure", builder.clone().run(|| -> Ready<()> { panic!("unheard") }));
    let builder = builder.host("a", || {
        assert!(shared::<AtomicU32>().fetch_add(1, SeqCst) == 0, "unheard");
        pending()
    });
    let report = builder.run(|| async {
        host("a").crash().await;
        host("a").restart();
        sleep(SECOND).await;
    });
    fails("the closure of a host that starts again", report);
}

#[test]
fn a_panic_that_a_handle_receives_does_not_fail_the_run() {
    colored::sim::check(|| async {
        let cell = ColorCell::new(1, 0);
        let task = spawn(async { panic!("heard") });
        let call = spawn(async move { cell.call(|_| panic!("heard")).await });
        let blocking = spawn_blocking(|| panic!("heard"));
        for task in [task, call, blocking] {
            assert!(task.await.unwrap_err().is_panic());
        }
    });
}

#[test]
fn blocking_calls_take_turns() {
    Builder::new()
        .seeds(0..100)
        .run(|| async {
            let (running, calls) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
            join_all((0..5).map(|number| {
                let (running, calls) = (running.clone(), calls.clone());
                spawn_blocking(move || {
                    assert_eq!(running.fetch_add(1, SeqCst), 0, "one at a time");
                    assert_eq!(calls.fetch_add(1, SeqCst), number, "in their order");
                    running.fetch_sub(1, SeqCst);
                })
            }))
            .await;
            fs::write("/a", "bytes").await.unwrap();
            assert!(fs::metadata("/a").await.unwrap().is_file());
        })
        .assert_passed();
}

#[test]
fn sockets_of_the_system_are_refused() {
    let _report = passes(|| async {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let error = TcpListener::from_std(socket).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("a simulation has sockets that"), "{error}");
    });
}

/// The child is refused before it begins: a program that is nowhere would be another error.
#[cfg(unix)]
#[test]
fn children_signals_pipes_and_datagrams_of_unix_are_refused() {
    use colored::net::UnixDatagram;
    use colored::net::unix::pipe;
    use colored::process::{Command, Stdio};
    use colored::signal::unix::{SignalKind, signal};
    let _report = passes(|| async {
        let mut piped = Command::new("/nowhere/at/all");
        let refused = [
            Command::new("/nowhere/at/all").spawn().unwrap_err(),
            piped.stdout(Stdio::piped()).spawn().unwrap_err(),
            Command::new("/nowhere/at/all").status().await.unwrap_err(),
            signal(SignalKind::hangup()).unwrap_err(),
            pipe::pipe().unwrap_err(),
            UnixDatagram::unbound().unwrap_err(),
            UnixDatagram::pair().unwrap_err(),
        ];
        for error in refused {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(error.to_string().contains("a simulation has sockets that"), "{error}");
        }
    });
}

#[test]
fn block_on_is_refused_in_a_blocking_call() {
    let found = failure(|| async {
        let handle = Handle::current();
        let call = spawn_blocking(move || handle.block_on(async {}));
        call.await.unwrap();
    });
    assert!(found.message().contains("`block_on` inside a simulation"), "{found}");
}

#[test]
fn settings_out_of_range_are_refused() {
    for workers in [0..=3, 1..=65] {
        let builder = Builder::new().workers(workers.clone());
        let panic = panic_of(move || builder.run(|| async {}));
        assert_eq!(panic, format!("workers({workers:?}): allowed are 1 to 64"));
    }
}

/// This process is the child of a test.
pub(super) const CHILD: &str = "COLORED_TEST_CHILD";

#[test]
fn a_turn_that_does_not_end_is_named() {
    if env::var_os(CHILD).is_some() {
        let sleep = || thread::sleep(Duration::from_secs(60));
        let _report = Builder::new()
            .run(|| async move { spawn_colored(7, async move { sleep() }).await.unwrap() });
        return;
    }
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["limits::a_turn_that_does_not_end_is_named", "--exact"])
        .env(CHILD, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.find(|line| line.starts_with("colored: a turn of a simulation has lasted"));
    child.kill().unwrap();
    child.wait().unwrap();
    let said = said.expect("a line before the turn is over");
    assert!(said.contains("with seed 0 and "), "{said}");
    assert!(said.contains("color 0x7, task 2, spawned at tests/sim/limits.rs:"), "{said}");
}
