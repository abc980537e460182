//! Mistakes of users: each is an error that names the mistake and the allowed values, and no
//! mistake loses work or makes a thread spin.

use colored::io::{AsyncReadExt, AsyncWriteExt, named};
use colored::net::{TcpListener, TcpStream};
use colored::runtime::Tuning;
use colored::time::{Duration, Instant, sleep};
use colored::{Color, ColorCell, Runtime};
use colored_tests::process::CpuTime;
use colored_tests::{alone, child, panic_of, run, runtime, shared};
use std::cell::RefCell;
use std::fs::File;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream as StdStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::task::{Context, Waker};

#[track_caller]
fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{text:?} does not say {part:?}");
    }
}

#[test]
fn settings_out_of_range_name_themselves_and_the_range() {
    type Set = fn(colored::Builder) -> colored::Builder;
    let cases: [(Set, &[&str]); 10] = [
        (|builder| builder.workers(0), &["workers(0)", "1 to 1024", "one per available CPU"]),
        (|builder| builder.workers(1025), &["workers(1025)", "1 to 1024"]),
        (|builder| builder.blocking_threads(0), &["blocking_threads(0)", "1 to 65536", "512"]),
        (|builder| builder.blocking_threads(65_537), &["blocking_threads(65537)", "1 to 65536"]),
        (
            |builder| builder.tuning(Tuning::new().timer_resolution(Duration::from_millis(11))),
            &["timer_resolution(11ms)", "0 ns to 10ms", "1ms"],
        ),
        (
            |builder| builder.thread_stack_size(65_535),
            &["thread_stack_size(65535)", "65536 to 1073741824", "the standard library's"],
        ),
        (
            |builder| builder.long_poll(Duration::from_micros(999)),
            &["long_poll(999µs)", "1ms and more", "5ms"],
        ),
        (
            |builder| builder.tuning(Tuning::new().spare_workers(65)),
            &["spare_workers(65)", "0 to 64", "at most 4"],
        ),
        (|builder| builder.thread_stack_size(usize::MAX), &["65536 to 1073741824"]),
        (|builder| builder.thread_name("a\0b"), &["thread_name(\"a\\0b\")", "NUL"]),
    ];
    for (set, parts) in cases {
        let error = set(Runtime::builder()).build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_says(&error.to_string(), parts);
    }
}

#[test]
fn invalid_addresses_get_an_example_of_a_valid_one() {
    run(1, async {
        for (text, wrong) in [
            ("localhost", "there is no port"),
            (":80", "there is no host"),
            ("localhost:65536", "0 to 65535"),
            ("::1:80", "needs brackets"),
            ("http://127.0.0.1:80", "this is a URL; give host and port only"),
            ("127.0.0.1:80\u{a0}", "there is a blank"),
        ] {
            let error = TcpStream::connect(text).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert_says(&error.to_string(), &[&format!("{text:?}"), wrong, "expected HOST:PORT"]);
        }
        let nowhere: &[SocketAddr] = &[];
        let error = TcpListener::bind(nowhere).await.unwrap_err();
        assert_says(&error.to_string(), &["an empty list", "at least one is needed"]);
    });
}

/// RFC 2606 reserves `.invalid`: the name does not exist.
#[test]
fn an_unknown_host_is_named() {
    run(2, async {
        let error = TcpStream::connect("no-such-host.invalid:80").await.unwrap_err();
        let expected = "a name that the resolver of this system knows";
        assert_says(
            &error.to_string(),
            &["cannot resolve host \"no-such-host.invalid\"", expected],
        );
    });
}

#[test]
fn a_refused_connect_names_every_address_that_was_tried() {
    run(2, async {
        // Ports of the reserved range, which have no listeners.
        let closed = ["127.0.0.1:1", "127.0.0.1:2"];
        let addrs = closed.map(|addr| addr.parse::<SocketAddr>().unwrap());
        let error = named(TcpStream::connect(addrs)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        assert_says(&error.to_string(), &closed);
    });
}

#[test]
fn a_port_in_use_is_named_and_stays_with_its_owner() {
    run(2, async {
        let owner = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = owner.local_addr().unwrap();
        let error = named(TcpListener::bind(addr)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        assert_says(&error.to_string(), &[&format!("cannot listen on {addr}")]);
        let client = TcpStream::connect(addr).await.unwrap();
        let (_, peer) = owner.accept().await.unwrap();
        assert_eq!(peer, client.local_addr().unwrap());
    });
}

#[test]
fn blocking_on_a_worker_says_what_to_do_instead() {
    shared(|| {
        let runtime = Arc::new(runtime(2));
        for workers in [1, 2] {
            let other = colored_tests::runtime(workers);
            let (inner, handle) = (Arc::clone(&runtime), other.handle().clone());
            let texts = runtime.run(async move {
                let texts = [
                    panic_of(|| inner.run(async {})),
                    panic_of(|| inner.block_on(async {})),
                    // Blocking another runtime's worker is the same mistake.
                    panic_of(|| handle.block_on(async {})),
                ];
                drop(inner);
                texts
            });
            assert_says(&texts[0], &["`Runtime::run` inside a task", "spawn the future instead"]);
            for text in &texts[1..] {
                assert_says(text, &["`block_on` inside a task", "`.await`", "`spawn_blocking`"]);
            }
        }
        let text = runtime.block_on(async { panic_of(|| runtime.block_on(async {})) });
        assert_says(&text, &["`block_on` inside a task", "`.await`"]);
        // The mistakes have cost nothing: everything still works.
        assert_eq!(runtime.run(async { 1 }) + runtime.block_on(async { 2 }), 3);
    });
}

#[test]
fn outside_a_runtime_everything_says_where_it_belongs() {
    fn poll<F: Future>(future: F) {
        let mut future = std::pin::pin!(future);
        let _ = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    }
    const PLACES: [&str; 3] = ["`#[colored::main]`", "`Runtime::run`", "`Runtime::block_on`"];
    let spawns: [(&str, &mut dyn FnMut()); 4] = [
        ("`spawn`", &mut || drop(colored::spawn(async {}))),
        ("`spawn_colored`", &mut || drop(colored::spawn_colored(1, async {}))),
        ("`spawn_unique`", &mut || drop(colored::spawn_unique(async {}))),
        ("`Handle::current`", &mut || drop(colored::Handle::current())),
    ];
    for (name, call) in spawns {
        let text = panic_of(call);
        assert_says(&text, &[name, "outside a runtime"]);
        assert_says(&text, &PLACES);
    }
    let leaves: [&mut dyn FnMut(); 4] = [
        &mut || drop(colored::spawn_blocking(|| ())),
        &mut || poll(sleep(Duration::from_millis(1))),
        &mut || poll(TcpListener::bind("127.0.0.1:0")),
        &mut || poll(TcpStream::connect("127.0.0.1:9")),
    ];
    for call in leaves {
        let text = panic_of(call);
        assert_says(&text, &["no `colored` runtime", "`Handle::enter`"]);
        assert_says(&text, &PLACES);
    }
    let others: [(&mut dyn FnMut(), &[&str]); 8] = [
        (&mut || _ = Runtime::builder().worker_threads(0), &["worker_threads(0)", "1 to 1024"]),
        (
            &mut || _ = Runtime::builder().max_blocking_threads(0),
            &["max_blocking_threads(0)", "65536"],
        ),
        (&mut || drop(colored::spawn_here(async {})), &["`spawn_here`", "inside a task"]),
        (&mut || drop(colored::spawn_local(async {})), &["`spawn_local`", "inside `block_on`"]),
        (&mut || poll(colored::hop(Color::new(7))), &["`hop(", "only a task of a runtime"]),
        (&mut || drop(ColorCell::new(Color::new(7), ())), &["`ColorCell::new", "inside one"]),
        (&mut || assert_ne!(colored::task::id(), colored::task::id()), &["outside a task"]),
        (
            &mut || _ = colored::task::Builder::new().priority(colored::Priority::Low),
            &["`Priority::Low`", "`High` or `Normal`", "`Handle::set_priority(color,"],
        ),
    ];
    for (call, parts) in others {
        assert_says(&panic_of(call), parts);
    }
    assert!(colored::Handle::try_current().is_none() && Color::current().is_none());
}

/// Where a panic is reported; nothing else may panic meanwhile.
fn line_of(f: impl FnOnce()) -> String {
    thread_local!(static PLACE: RefCell<String> = const { RefCell::new(String::new()) });
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        PLACE.set(info.location().map(ToString::to_string).unwrap_or_default());
    }));
    panic_of(f);
    std::panic::set_hook(before);
    PLACE.take()
}

/// The reported line is the program's, and not one in the library.
#[test]
fn a_mistake_is_reported_at_its_line() {
    alone(|| {
        let mistakes: [fn(); 8] = [
            || drop(colored::spawn(async {})),
            || drop(colored::spawn_colored(7, async {})),
            || drop(colored::spawn_local(async {})),
            || drop(colored::spawn_pinned(0, 7, || async {})),
            || drop(colored::task::Builder::new().spawn(async {})),
            || drop(ColorCell::new(7, ())),
            || drop(colored::Limit::new(7, 1)),
            || drop(colored::PinnedCell::on_worker(0, 7, || ())),
        ];
        for mistake in mistakes {
            let line = line_of(mistake);
            assert!(line.contains(file!()), "{line} is not in {}", file!());
        }
    });
}

/// As above, of what needs a runtime for its descriptor.
#[test]
fn a_descriptor_outside_a_runtime_is_reported_at_its_line() {
    use colored::net::unix::pipe;
    use colored::net::{TcpSocket, UdpSocket, UnixDatagram, UnixListener, UnixStream};
    fn path() -> PathBuf {
        std::env::temp_dir().join(format!("colored-no-runtime-{}", std::process::id()))
    }
    fn pair() -> (std::os::unix::net::UnixStream, std::os::unix::net::UnixStream) {
        std::os::unix::net::UnixStream::pair().unwrap()
    }
    alone(|| {
        let mistakes: [fn(); 14] = [
            || drop(TcpListener::from_std(std::net::TcpListener::bind("127.0.0.1:0").unwrap())),
            || drop(TcpSocket::new_v4().unwrap().listen(1)),
            || drop(UdpSocket::from_std(std::net::UdpSocket::bind("127.0.0.1:0").unwrap())),
            || drop(UnixDatagram::bind(path())),
            || drop(UnixDatagram::unbound()),
            || drop(UnixListener::bind(path())),
            || drop(UnixStream::pair()),
            || drop(UnixStream::try_from(pair().0)),
            || drop(pipe::pipe()),
            || drop(pipe::OpenOptions::new().open_receiver(path())),
            || drop(colored::io::AsyncFd::new(pair().0)),
            || drop(colored::fs::File::try_from(File::open("/dev/null").unwrap())),
            || drop(colored::process::Command::new("true").spawn()),
            || drop(colored::signal::unix::signal(colored::signal::unix::SignalKind::hangup())),
        ];
        for (number, mistake) in mistakes.into_iter().enumerate() {
            let line = line_of(mistake);
            assert!(line.contains(file!()), "{number}: {line} is not in {}", file!());
        }
        assert!(!path().exists(), "a listener without a runtime has left its file");
    });
}

/// The listener reports it, waits longer each time, and accepts all connections when it can again.
#[test]
fn accept_without_descriptors_backs_off_and_recovers() {
    shared(|| {
        child::run_after(
            "ulimit -n 64",
            module_path!(),
            "accept_without_descriptors_backs_off_and_recovers",
            || runtime(2).run(exhaust()),
        );
    });
}

async fn exhaust() {
    const CLIENTS: usize = 4;
    const STARVED: Duration = Duration::from_millis(1500);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut cpu = CpuTime::open();
    let clients: Vec<_> = (0..CLIENTS).map(|_| StdStream::connect(addr).unwrap()).collect();
    let mut hoard = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        hoard.push(file);
    }
    let (begin, before) = (Instant::now(), cpu.read());
    let mut errors = Vec::new();
    while begin.elapsed() < STARVED {
        errors.push(named(listener.accept()).await.unwrap_err());
    }
    let spent = cpu.read() - before;
    // At 0, 5, 15, 35, 75, 155, 315, 635, 1275 and 2275 ms: late, perhaps, but never more.
    assert!((2..=10).contains(&errors.len()), "{} errors", errors.len());
    assert!(spent <= STARVED / 10, "{spent:?} of CPU time in {STARVED:?} of waiting");
    let text = errors[0].to_string();
    assert_says(
        &text,
        &[&format!("cannot accept on {addr}"), "every descriptor", "ulimit -n", "stay queued"],
    );
    assert_eq!(errors[0].raw_os_error(), Some(24));

    drop(hoard);
    for client in clients {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"welcome").await.unwrap();
        drop(client);
    }
    // The pause is over: the next connection is accepted at once.
    let mut client = TcpStream::connect(addr).await.unwrap();
    let begin = Instant::now();
    let (mut stream, _) = listener.accept().await.unwrap();
    assert!(begin.elapsed() < Duration::from_millis(900));
    stream.write_all(b"!").await.unwrap();
    assert_eq!(client.read(&mut [0; 2]).await.unwrap(), 1);
}

/// A runtime that cannot get its selector returns an error, and leaves nothing behind.
#[test]
fn a_runtime_without_descriptors_does_not_start() {
    shared(|| {
        child::run_after(
            "ulimit -n 64",
            module_path!(),
            "a_runtime_without_descriptors_does_not_start",
            || {
                let mut hoard = Vec::new();
                while let Ok(file) = File::open("/dev/null") {
                    hoard.push(file);
                }
                let error = Runtime::builder().workers(2).build().unwrap_err();
                assert_eq!(error.raw_os_error().or(Some(24)), Some(24), "{error}");
                drop(hoard);
                assert_eq!(runtime(2).run(async { 5 }), 5);
            },
        );
    });
}

/// The variable counts where the program says nothing, and must be a number of workers.
#[test]
fn the_environment_says_how_many_workers_there_are() {
    const TEST: &str = "the_environment_says_how_many_workers_there_are";
    for value in ["3", "0", "many", "1025"] {
        child::run_after(&format!("export COLORED_WORKERS={value}"), module_path!(), TEST, || {
            let value = std::env::var("COLORED_WORKERS").unwrap();
            assert_eq!(workers_of(Runtime::builder().workers(2)), 2);
            if value == "3" {
                assert_eq!(workers_of(Runtime::builder()), 3);
                return;
            }
            let error = Runtime::builder().build().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            let text = format!("COLORED_WORKERS is {value:?}: allowed are 1 to 1024");
            assert!(error.to_string().contains(&text), "{error}");
        });
    }
}

fn workers_of(builder: colored::Builder) -> usize {
    builder.build().unwrap().metrics().workers.len()
}
