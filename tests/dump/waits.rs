//! What a waiting task waits for, and what is not shown because it was cancelled.

use super::json;
use colored::diagnose::Dump;
use colored::diagnose::dump::{TaskState, WaitFor};
use colored::io::AsyncReadExt;
use colored::net::{TcpListener, TcpStream, UdpSocket};
use colored::sync::{Mutex, Notify, OnceCell, Semaphore, mpsc, oneshot};
use colored::task::Id;
use colored::time::{Duration, sleep, timeout};
use colored::{Color, Handle, JoinHandle, Runtime, exclusive, select, task};
use colored_tests::{runtime, shared, wait_until};
use std::future::{pending, ready};
use std::panic::Location;
use std::sync::Arc;

/// The dump in which all these tasks wait, with something to wait for.
fn dump_when_all_wait(handle: &Handle, ids: &[Id]) -> Dump {
    loop {
        let dump = handle.dump();
        let waits = |id: &Id| {
            let found = dump.tasks().find(|task| task.id() == *id);
            found.is_some_and(|task| task.state() == TaskState::Waiting)
        };
        // A color that runs is read when its turn is over.
        if ids.iter().all(waits) && dump.unread().is_empty() {
            return dump;
        }
        std::thread::yield_now();
    }
}

/// The text of the only wait of a task.
fn only(dump: &Dump, id: Id) -> String {
    let task = dump.tasks().find(|task| task.id() == id).expect("it waits");
    let [wait] = &task.waits()[..] else { panic!("it has one wait: {:?}", task.waits()) };
    wait.to_string()
}

/// Spawns a task that waits, and returns its text.
fn text_of<F>(runtime: &Runtime, future: F) -> String
where
    F: Future<Output: Send> + Send + 'static,
{
    let task = runtime.spawn_unique(future);
    let dump = dump_when_all_wait(runtime.handle(), &[task.id()]);
    json::check(&dump.to_json());
    let text = only(&dump, task.id());
    task.abort();
    text
}

#[test]
fn each_kind_of_wait_has_its_words_and_its_place() {
    shared(|| {
        let runtime = runtime(2);
        assert_eq!(text_of(&runtime, pending::<()>()), "waits for something of its own");
        let line = line!() + 1;
        let text = text_of(&runtime, async { sleep(Duration::from_secs(3600)).await });
        assert!(text.starts_with("sleeps, 3") && text.contains("s more, at "), "{text}");
        assert!(text.contains(&format!("waits.rs:{line}:")), "{text}");
        let text = text_of(&runtime, timeout(Duration::from_secs(3600), pending::<()>()));
        assert!(text.starts_with("waits for something of its own, with a timeout, 3"), "{text}");
        let text = text_of(&runtime, sleep(Duration::from_secs(30 * 24 * 3600)));
        assert!(text.starts_with("sleeps, 259"), "30 days are 2592000 s: {text}");
        let other = runtime.spawn_unique(pending::<()>());
        let id = other.id();
        let text = text_of(&runtime, other);
        assert!(text.starts_with(&format!("awaits {id:?} (spawned at ")), "{text}");
        let (_ends, end) = std::sync::mpsc::channel::<()>();
        let text = text_of(&runtime, async { colored::spawn_blocking(move || end.recv()).await });
        assert!(text.starts_with("awaits a blocking call (made at "), "{text}");
    });
}

#[test]
fn a_wait_for_a_lock_or_a_channel_has_its_words_and_its_place() {
    shared(|| {
        let runtime = runtime(2);
        let says = |text: String, words: &str, line: u32| {
            let begin = format!("{words}, at ");
            assert!(
                text.starts_with(&begin) && text.contains(&format!("waits.rs:{line}:")),
                "{text}"
            );
        };
        let lock = Arc::new(Mutex::new(()));
        let _held = lock.try_lock().unwrap();
        let line = line!() + 2;
        let waits = Arc::clone(&lock);
        let text = text_of(&runtime, async move { drop(waits.lock().await) });
        says(text, "waits for a lock", line);
        let line = line!() + 1;
        let text = text_of(&runtime, async { drop(Semaphore::new(0).acquire().await) });
        says(text, "waits for a permit", line);
        let (_sender, mut receiver) = mpsc::channel::<()>(1);
        let line = line!() + 1;
        let text = text_of(&runtime, async move { receiver.recv().await });
        says(text, "waits for a value of a channel", line);
        let (sender, _receiver) = mpsc::channel(1);
        sender.try_send(()).unwrap();
        let line = line!() + 1;
        let text = text_of(&runtime, async move { sender.send(()).await });
        says(text, "waits for room in a channel", line);
        let line = line!() + 1;
        let (_sender, receiver) = oneshot::channel::<()>();
        says(text_of(&runtime, receiver), "waits for a value of a channel", line);
        let line = line!() + 1;
        let text = text_of(&runtime, async { Notify::new().notified().await });
        says(text, "waits for a signal of another task", line);
        // What the maker of a value waits for is what the task is about.
        let line = line!() + 1;
        let make = async || sleep(Duration::from_secs(3600)).await;
        let text = text_of(&runtime, async move { *OnceCell::new().get_or_init(make).await });
        assert!(
            text.starts_with("sleeps") && text.contains(&format!("waits.rs:{line}:")),
            "{text}"
        );
    });
}

#[test]
fn a_socket_is_named_by_its_addresses() {
    shared(|| {
        let runtime = runtime(2);
        let socket = runtime.run(UdpSocket::bind("127.0.0.1:0")).unwrap();
        let address = socket.local_addr().unwrap();
        let text = text_of(&runtime, async move { socket.recv(&mut [0; 8]).await });
        assert!(text.starts_with("waits until there is something to read: descriptor "), "{text}");
        assert!(cfg!(not(unix)) || text.contains(&address.to_string()), "{text}");
        let listener = runtime.run(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = runtime.run(TcpStream::connect(address)).unwrap();
        let (listener, _served) = runtime.run(async move {
            let served = listener.accept().await.unwrap();
            (listener, served)
        });
        let text = text_of(&runtime, async move { listener.accept().await });
        assert!(text.starts_with("waits for a connection: descriptor "), "{text}");
        // The timeout is not what the task is about.
        let text = text_of(&runtime, async move {
            timeout(Duration::from_secs(3600), client.read(&mut [0; 8])).await.is_ok()
        });
        assert!(text.starts_with("waits until there is something to read"), "{text}");
        assert!(cfg!(not(unix)) || text.contains(&format!("peer {address}")), "{text}");
    });
}

/// `dropped` is pending, and is dropped in the poll in which the task begins to wait for ever.
async fn cancel_while_waiting(dropped: impl Future) {
    select! {
        biased;
        _ = dropped => {}
        () = ready(()) => {}
    }
    pending::<()>().await;
}

/// Shows G14.
#[test]
fn a_branch_of_a_select_that_was_dropped_is_not_shown() {
    const OF_ITS_OWN: &str = "waits for something of its own";
    shared(|| {
        let runtime = runtime(2);
        assert_eq!(
            text_of(&runtime, cancel_while_waiting(sleep(Duration::from_secs(3600)))),
            OF_ITS_OWN
        );
        let forever = timeout(Duration::from_secs(3600), pending::<()>());
        assert_eq!(text_of(&runtime, cancel_while_waiting(forever)), OF_ITS_OWN);
        let other = runtime.spawn_unique(pending::<()>());
        assert_eq!(text_of(&runtime, cancel_while_waiting(other)), OF_ITS_OWN);
        let (_sender, mut receiver) = mpsc::channel::<()>(1);
        assert_eq!(
            text_of(&runtime, cancel_while_waiting(async move { receiver.recv().await })),
            OF_ITS_OWN
        );
        let socket = runtime.run(UdpSocket::bind("127.0.0.1:0")).unwrap();
        let received = async move { socket.recv(&mut [0; 8]).await };
        assert_eq!(text_of(&runtime, cancel_while_waiting(received)), OF_ITS_OWN);
        let listener = runtime.run(TcpListener::bind("127.0.0.1:0")).unwrap();
        let accepted = async move { listener.accept().await };
        assert_eq!(text_of(&runtime, cancel_while_waiting(accepted)), OF_ITS_OWN);
        // In another poll than the one in which it was pending.
        let later = async {
            select! {
                () = sleep(Duration::from_secs(3600)) => {}
                () = sleep(Duration::from_millis(1)) => {}
            }
            pending::<()>().await;
        };
        let task = runtime.spawn_unique(later);
        wait_until(|| {
            let dump = runtime.handle().dump();
            let found = dump.tasks().find(|found| found.id() == task.id());
            found.is_some_and(|task| {
                task.waits().first().is_some_and(|wait| matches!(wait.what, WaitFor::Other))
            })
        });
    });
}

#[test]
fn names_colors_sections_and_targets_are_in_text_and_json() {
    shared(|| {
        let runtime = runtime(2);
        let orders = Color::named("orders of the dump test");
        let cell = runtime.handle().cell(orders, 0);
        let site = Location::caller();
        let keeps = runtime.spawn_colored(orders, exclusive(pending::<()>()));
        let _entered = runtime.enter();
        let named = task::Builder::new().color(7).name("reader of \"orders\"");
        let calls: JoinHandle<()> = named.spawn(async move { cell.call(|_| ()).await });
        let dump = dump_when_all_wait(runtime.handle(), &[keeps.id(), calls.id()]);
        let text = dump.to_string();
        let name =
            format!("{:?} \"reader of \\\"orders\\\"\" (spawned at {}", calls.id(), site.file());
        assert!(text.contains(&name), "{text}");
        assert!(text.contains("color \"orders of the dump test\"\n"), "{text}");
        assert!(text.contains("is in a section, at "), "{text}");
        let call = only(&dump, calls.id());
        assert!(
            call.starts_with("calls a cell of color \"orders of the dump test\", at "),
            "{call}"
        );
        let json = dump.to_json();
        json::check(&json);
        assert!(json.contains(r#""name":"reader of \"orders\"""#), "{json}");
        assert!(
            json.contains(r#""for":"colors""#) && json.contains(r#""for":"section""#),
            "{json}"
        );
        let name = |id: Id| {
            let dump = runtime.handle().dump();
            dump.tasks()
                .find(|task| task.id() == id)
                .and_then(|task| task.name().map(str::to_owned))
        };
        assert_eq!(name(calls.id()).as_deref(), Some("reader of \"orders\""));
        assert_eq!(name(keeps.id()), None);
    });
}

#[test]
fn a_panic_names_the_task() {
    shared(|| {
        let (tell, told) = std::sync::mpsc::channel();
        let tell = std::sync::Mutex::new(tell);
        let builder = Runtime::builder().workers(1).on_task_panic(move |panic| {
            tell.lock().unwrap().send(panic.to_string()).unwrap();
        });
        let runtime = builder.build().unwrap();
        let _entered = runtime.enter();
        let text = colored_tests::ON_PURPOSE;
        let task = task::Builder::new().name("faulty").spawn(async move { panic!("{text}") });
        let id = task.id();
        drop(task);
        let told = told.recv().unwrap();
        assert!(told.starts_with(&format!("{id:?} \"faulty\" (spawned at ")), "{told}");
    });
}
