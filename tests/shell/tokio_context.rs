//! Libraries that need tokio's runtime, inside our tasks.

use colored::diagnose::Options;
use colored::runtime::Handle;
use colored::time::Duration;
use colored::{Color, ColorCell, Runtime, spawn, spawn_blocking, spawn_colored, spawn_unique};
use colored_tests::{child, join_all, panic_of, process, shared, wait_until};
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Instant;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn with_tokio(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).tokio_context(true).build().unwrap()
}

/// A thousand requests over tokio's sockets: all are answered, each task stays under its color, and state of a color needs
/// no lock.
#[test]
fn tasks_on_tokios_sockets_keep_their_colors() {
    const CLIENTS: u64 = 20;
    const REQUESTS: usize = 50;
    shared(|| {
        with_tokio(2).run(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let served = ColorCell::new(Color::named("served"), 0);
            let count = served.clone();
            let server = spawn_unique(async move {
                loop {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    let count = count.clone();
                    drop(spawn_unique(async move {
                        let mut request = [0; 8];
                        while stream.read_exact(&mut request).await.is_ok() {
                            count.call(|count| *count += 1).await;
                            stream.write_all(&request).await.unwrap();
                        }
                    }));
                }
            });
            join_all((0..CLIENTS).map(|client| {
                let color = Color::of(client);
                spawn_colored(color, async move {
                    let mut stream = TcpStream::connect(address).await.unwrap();
                    for request in 0..REQUESTS as u64 {
                        stream.write_all(&request.to_le_bytes()).await.unwrap();
                        let mut answer = [0; 8];
                        stream.read_exact(&mut answer).await.unwrap();
                        assert_eq!(answer, request.to_le_bytes());
                        assert_eq!(Color::current(), Some(color));
                    }
                })
            }))
            .await;
            server.abort();
            assert_eq!(served.call(|count| *count).await, CLIENTS as usize * REQUESTS);
        });
    });
}

#[test]
fn timers_files_processes_and_spawned_tasks_work() {
    shared(|| {
        with_tokio(1).run(async {
            let begin = Instant::now();
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert!(begin.elapsed() >= Duration::from_millis(20));
            let limit = Duration::from_millis(5);
            tokio::time::timeout(limit, std::future::pending::<()>()).await.unwrap_err();
            assert!(!tokio::fs::read("/proc/self/status").await.unwrap().is_empty());
            let output = tokio::process::Command::new("echo").arg("hello").output().await.unwrap();
            assert_eq!(output.stdout, b"hello\n");
            // No task of ours: it has no color, and its output comes back by its own handle.
            let spawned = tokio::spawn(async { Color::current() });
            assert_eq!(spawned.await.unwrap(), None);
            assert_eq!(tokio::task::spawn_blocking(|| 7).await.unwrap(), 7);
            // A blocking call of ours is inside, too.
            let inside = spawn_blocking(|| tokio::runtime::Handle::try_current().is_ok());
            assert!(inside.await.unwrap());
        });
    });
}

#[test]
fn a_guest_is_inside_too_and_a_spare_worker() {
    shared(|| {
        let runtime = with_tokio(1);
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(1)).await });
        // The only worker is held, so a spare one runs the task.
        let held = runtime.spawn_unique(async { std::thread::sleep(Duration::from_millis(200)) });
        let other = runtime.spawn_unique(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
        });
        runtime.block_on(other).unwrap();
        runtime.block_on(held).unwrap();
    });
}

#[test]
fn a_runtime_of_the_program_serves_as_well() {
    shared(|| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let tokio = builder.worker_threads(1).enable_all().build().unwrap();
        let handle = tokio.handle().clone();
        let runtime = Runtime::builder().workers(2).tokio_handle(handle).build().unwrap();
        runtime.run(async { tokio::time::sleep(Duration::from_millis(1)).await });
        drop(runtime);
        // It goes on.
        tokio.block_on(async { tokio::time::sleep(Duration::from_millis(1)).await });
    });
}

#[test]
fn without_it_tokio_says_what_is_missing_and_one_line_names_the_feature() {
    let name = "without_it_tokio_says_what_is_missing_and_one_line_names_the_feature";
    let said = child::said("", module_path!(), name, || {
        shared(|| {
            let sleep = async || tokio::time::sleep(Duration::ZERO).await;
            for _ in 0..2 {
                let runtime = Runtime::builder().workers(1).tokio_context(false).build().unwrap();
                let spawned = runtime.spawn_unique(async move { sleep().await });
                let said = runtime.block_on(spawned).unwrap_err().to_string();
                assert!(said.contains("there is no reactor running"), "{said}");
                let said = panic_of(|| runtime.run(async move { sleep().await }));
                assert!(said.contains("there is no reactor running"), "{said}");
            }
            // Other panics are their own explanation.
            let runtime = Runtime::builder().workers(1).tokio_context(false).build().unwrap();
            assert_eq!(panic_of(|| runtime.run(async { panic!("no reactor") })), "no reactor");
        });
    });
    if let Some((_, errors)) = said {
        let named = errors.lines().filter(|line| line.contains("the feature `tokio-context`"));
        assert_eq!(named.count(), 1, "{errors}");
    }
}

#[test]
fn its_threads_end_with_the_runtime() {
    child::run(module_path!(), "its_threads_end_with_the_runtime", || {
        shared(|| {
            let is_there = || {
                process::threads().values().any(|thread| thread.name.starts_with("colored-tokio"))
            };
            let runtime = with_tokio(2);
            runtime.run(async { tokio::task::spawn_blocking(|| ()).await.unwrap() });
            assert!(is_there());
            // Also from inside a task of tokio, which must not wait.
            let other = tokio::runtime::Builder::new_current_thread().build().unwrap();
            other.block_on(async move { drop(runtime) });
            wait_until(|| !is_there());
            let runtime = with_tokio(1);
            runtime.shutdown_background();
            wait_until(|| !is_there());
        });
    });
}

/// The option of the attribute.
#[colored::test(workers = 1, tokio)]
async fn a_test_asks_for_tokio() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// The feature is enough.
#[colored::test(workers = 1)]
async fn nobody_asks_for_tokio() {
    tokio::time::sleep(Duration::from_millis(1)).await;
    spawn_unique(tokio::time::sleep(Duration::from_millis(1))).await.unwrap();
}

#[colored::test(workers = 1, tokio = false)]
#[should_panic = "there is no reactor running"]
async fn a_test_refuses_tokio() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// An axum handler after `on_upgrade` is such a task.
#[test]
fn a_task_of_tokios_uses_our_runtime() {
    shared(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let seven = Color::new(7);
        let cell = runtime.handle().cell(seven, 0);
        let count = cell.clone();
        runtime.run(async move {
            let of_tokio = tokio::spawn(async move {
                assert_eq!(Color::current(), None);
                assert_eq!(spawn(async { Color::current() }).await.unwrap(), Some(Color::DEFAULT));
                let spawned = spawn_colored(seven, async { Color::current() });
                assert_eq!(spawned.await.unwrap(), Some(seven));
                count.call(|count| *count += 1).await;
                colored::time::sleep(Duration::from_millis(1)).await;
                let listener = colored::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let (one, other) =
                    tokio::join!(listener.accept(), colored::net::TcpStream::connect(address));
                one.unwrap().0.write_all(b"hello").await.unwrap();
                let mut read = [0; 5];
                other.unwrap().read_exact(&mut read).await.unwrap();
                assert_eq!(spawn_blocking(move || read).await.unwrap(), *b"hello");
                // A call of tokio's is inside as well, and what it spawns.
                let call = tokio::task::spawn_blocking(|| Handle::current().spawn(async { 7 }));
                assert_eq!(call.await.unwrap().await.unwrap(), 7);
            });
            of_tokio.await.unwrap();
        });
        assert_eq!(runtime.run(cell.call(|count| *count)), 1);
    });
}

/// Spawns on our runtime when it is dropped, and notes what became of the task.
struct SpawnsAtItsEnd(Arc<AtomicBool>);

impl Drop for SpawnsAtItsEnd {
    fn drop(&mut self) {
        let task = spawn(async {});
        let mut task = std::pin::pin!(task);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let polled = task.as_mut().poll(&mut context);
        self.0.store(matches!(polled, std::task::Poll::Ready(Err(_))), Ordering::SeqCst);
    }
}

#[test]
fn what_a_task_of_tokios_spawns_at_the_end_is_cancelled() {
    shared(|| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let end = SpawnsAtItsEnd(Arc::clone(&is_cancelled));
        runtime.run(async move {
            let (begun, has_begun) = tokio::sync::oneshot::channel();
            drop(tokio::spawn(async move {
                let _end = end;
                begun.send(()).unwrap();
                std::future::pending::<()>().await;
            }));
            has_begun.await.unwrap();
        });
        drop(runtime);
        assert!(is_cancelled.load(Ordering::SeqCst));
    });
}

/// The threads of tokio hold our runtime, and our runtime holds tokio's: neither keeps the other.
#[test]
fn nothing_is_left_of_many_runtimes() {
    child::run(module_path!(), "nothing_is_left_of_many_runtimes", || {
        shared(|| {
            let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
            // tokio keeps two descriptors for signals from the first runtime of a process on.
            let threads = process::threads().len();
            drop(with_tokio(1));
            // A thread that has been joined may be listed for a moment.
            wait_until(|| process::threads().len() == threads);
            let before = (descriptors(), threads);
            for number in 0..20 {
                let builder = Runtime::builder().workers(1);
                if number % 4 == 0 {
                    let mut runtime =
                        Runtime::builder().tokio_context(true).build_embedded().unwrap();
                    runtime.block_on(async { tokio::spawn(async {}).await.unwrap() });
                    continue;
                }
                if number % 4 == 1 {
                    let options = Options::new().inspect("/proc/none/such");
                    builder.diagnose(options).build().unwrap_err();
                    continue;
                }
                let runtime = builder.build().unwrap();
                runtime.run(async {
                    tokio::task::spawn_blocking(|| drop(Handle::current())).await.unwrap();
                });
                if number % 4 == 2 {
                    runtime.shutdown_background();
                }
            }
            wait_until(|| (descriptors(), process::threads().len()) == before);
        });
    });
}

/// Where tokio would panic.
#[cfg(target_os = "linux")]
#[test]
fn no_thread_for_tokio_is_an_error() {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
    const CLONE3: i64 = 435;
    const EAGAIN: u32 = 11;
    child::run(module_path!(), "no_thread_for_tokio_is_an_error", || {
        shared(|| {
            let filter = SeccompFilter::new(
                [(CLONE3, Vec::new())].into_iter().collect(),
                SeccompAction::Allow,
                SeccompAction::Errno(EAGAIN),
                std::env::consts::ARCH.try_into().expect("an architecture with filters"),
            );
            let program: BpfProgram =
                filter.and_then(TryInto::try_into).expect("the filter is right");
            apply_filter(&program).expect("the system takes the filter");
            let error = Runtime::new().unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
            let text = error.to_string();
            assert!(text.contains("cannot start the thread `colored-tokio`"), "{text}");
            assert!(text.contains("os error 11"), "{text}");
            let cause = error.source().and_then(|error| error.downcast_ref::<std::io::Error>());
            assert_eq!(cause.and_then(std::io::Error::raw_os_error), Some(EAGAIN as i32));
        });
    });
}

/// A call of tokio's that does not end is not waited for, and ends in peace.
#[test]
fn a_call_of_tokios_outlives_the_runtime() {
    child::run(module_path!(), "a_call_of_tokios_outlives_the_runtime", || {
        shared(|| {
            let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
            drop(with_tokio(1)); // as above
            let before = descriptors();
            let runtime = Runtime::builder().workers(1).build().unwrap();
            let (end, ends) = mpsc::channel::<()>();
            let (begun, has_begun) = mpsc::channel();
            runtime.run(async move {
                drop(tokio::task::spawn_blocking(move || {
                    begun.send(()).unwrap();
                    ends.recv().unwrap_err();
                    // The runtime is gone: its tasks are cancelled.
                    assert!(Handle::current().spawn(async {}).is_finished());
                }));
            });
            has_begun.recv().unwrap();
            runtime.shutdown_background();
            drop(end);
            wait_until(|| descriptors() == before);
        });
    });
}
