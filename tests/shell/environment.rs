//! The environment variables of the operator: each counts where the program says nothing, and a wrong value is an
//! error that names the variable, the value and the allowed ones.

use colored::diagnose::Options;
use colored::diagnose::trace::Level;
use colored::time::Duration;
use colored::{Color, Handle, Runtime, spawn_blocking};
use colored_tests::{block, child, join_all, shared, wait_until};
use std::env;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::mpsc;

/// Runs `body` in a process of its own for each value, with the variable set to it.
fn each(test: &str, name: &str, values: &[&str], body: impl Fn(&str)) {
    shared(|| {
        for value in values {
            let line = format!("export {name}='{value}'");
            child::run_after(&line, module_path!(), test, || {
                // The process sees all cases of the test, and is one of them.
                if env::var(name).is_ok_and(|own| own == *value) {
                    body(value);
                }
            });
        }
    });
}

#[test]
fn a_wrong_value_is_an_error_that_names_it() {
    let cases = [
        ("COLORED_WORKERS", "0", "1 to 1024; unset it for one per available CPU"),
        ("COLORED_WORKERS", "1025", "1 to 1024"),
        ("COLORED_PIN", "yes", "0 and 1; unset it for 0"),
        ("COLORED_BLOCKING_THREADS", "0", "1 to 65536; unset it for 512"),
        ("COLORED_BLOCKING_THREADS", "-1", "1 to 65536"),
        ("COLORED_LONG_POLL_MS", "0", "1 to 86400000; unset it for 5"),
        ("COLORED_LONG_POLL_MS", "5 ms", "1 to 86400000"),
        ("COLORED_WARNINGS", "2", "0 and 1; unset it for 1"),
        ("COLORED_NAMES", "all", "0 and 1"),
        ("COLORED_TRACE", "4", "0 to 3; unset it for 0"),
        ("COLORED_TRACE", "on", "0 to 3"),
        ("COLORED_LAZY_FILES", "", "0 and 1; unset it for 1"),
        ("COLORED_IO_URING", "no", "0 and 1; unset it for 1"),
    ];
    for (name, value, allowed) in cases {
        each("a_wrong_value_is_an_error_that_names_it", name, &[value], |value| {
            let error = Runtime::builder().build().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            let text =
                format!("the environment variable {name} is {value:?}: allowed are {allowed}");
            assert!(error.to_string().starts_with(&text), "{error}");
        });
    }
}

/// Without any code: what the runtime has recorded when it ends, also that of the attributes.
#[test]
fn the_environment_names_a_trace_file() {
    const TEST: &str = "the_environment_names_a_trace_file";
    // The number of the process tells the files of several tests apart.
    let name = env::temp_dir().join("colored-trace-of-tests-{pid}.pftrace");
    each(TEST, "COLORED_TRACE_FILE", &[name.to_str().unwrap()], |value| {
        let ours = PathBuf::from(value.replace("{pid}", &std::process::id().to_string()));
        let own = ours.with_extension("own");
        let work = |runtime: Runtime| {
            let color = Color::named("in the file");
            runtime.run(async move { colored::spawn_colored(color, async {}).await.unwrap() });
            assert!(!ours.exists(), "it is written at the end");
            drop(runtime);
        };
        let has_name = || {
            let bytes = std::fs::read(&ours).unwrap();
            bytes.windows(11).any(|bytes| bytes == b"in the file")
        };
        work(Runtime::builder().workers(1).build().unwrap());
        assert!(has_name());
        std::fs::remove_file(&ours).unwrap();
        let mut embedded = Runtime::builder().build_embedded().unwrap();
        embedded.block_on(async {
            let color = Color::named("in the file");
            colored::spawn_colored(color, async {}).await.unwrap();
        });
        drop(embedded);
        assert!(has_name());
        std::fs::remove_file(&ours).unwrap();
        // A file of the program's own is for its copies, and the end writes none.
        let options = Options::new().trace_file(&own);
        drop(Runtime::builder().workers(1).diagnose(options).build().unwrap());
        Runtime::builder().workers(1).build().unwrap().shutdown_background();
        assert!(!ours.exists() && !own.exists());
    });
    each(TEST, "COLORED_TRACE_FILE", &[""], |_| {
        let error = Runtime::builder().build().unwrap_err();
        let text = "COLORED_TRACE_FILE is \"\": allowed is a path in UTF-8; unset it for no file";
        assert!(error.to_string().contains(text), "{error}");
    });
}

#[test]
fn the_environment_says_whether_keys_are_shown() {
    each("the_environment_says_whether_keys_are_shown", "COLORED_NAMES", &["0", "1"], |value| {
        let _runtime = Runtime::builder().workers(1).build().unwrap();
        let text = Color::of(("shop", 3)).to_string();
        assert_eq!(text == "color of (\"shop\", 3)", value == "1", "{text}");
    });
}

#[test]
fn the_environment_says_how_many_blocking_threads_there_are() {
    const TEST: &str = "the_environment_says_how_many_blocking_threads_there_are";
    each(TEST, "COLORED_BLOCKING_THREADS", &["1"], |_| {
        for (builder, threads) in
            [(Runtime::builder(), 1), (Runtime::builder().blocking_threads(2), 2)]
        {
            let runtime = builder.workers(1).build().unwrap();
            let (end, ended) = mpsc::channel::<()>();
            let first = runtime.spawn_blocking(move || ended.recv().unwrap_or_default());
            let second = runtime.spawn_blocking(|| ());
            assert_eq!(runtime.metrics().blocking.threads, threads);
            drop(end);
            runtime.run(async { (first.await.unwrap(), second.await.unwrap()) });
        }
    });
}

#[test]
fn the_environment_says_which_polls_are_long() {
    const TEST: &str = "the_environment_says_which_polls_are_long";
    each(TEST, "COLORED_LONG_POLL_MS", &["1", "86400000"], |value| {
        let polls = |handle: &Handle| handle.metrics().long_polls.polls;
        let long = |builder: colored::Builder| {
            let runtime = builder.workers(1).build().unwrap();
            runtime.run(async move {
                let handle = Handle::current();
                if value_is_short() {
                    wait_until(|| polls(&handle) == 1);
                } else {
                    block(Duration::from_millis(50));
                }
                polls(&handle)
            })
        };
        assert_eq!(long(Runtime::builder()), u64::from(value == "1"));
        if value != "1" {
            let runtime = Runtime::builder().workers(1).long_poll(Duration::from_millis(1));
            let runtime = runtime.build().unwrap();
            runtime.run(async move {
                let handle = Handle::current();
                wait_until(|| polls(&handle) == 1);
            });
        }
    });
}

fn value_is_short() -> bool {
    env::var("COLORED_LONG_POLL_MS").is_ok_and(|value| value == "1")
}

/// How many CPUs this thread may run on.
#[cfg(target_os = "linux")]
fn cpus() -> u32 {
    rustix::thread::sched_getaffinity(None).unwrap().count()
}

#[cfg(target_os = "linux")]
#[test]
fn the_environment_says_whether_workers_are_pinned() {
    const TEST: &str = "the_environment_says_whether_workers_are_pinned";
    each(TEST, "COLORED_PIN", &["1", "0"], |value| {
        let all = cpus();
        let pinned = |builder: colored::Builder| builder.build().unwrap().run(async { cpus() });
        assert_eq!(pinned(Runtime::builder()), if value == "1" { 1 } else { all });
        assert_eq!(
            pinned(Runtime::builder().pin(value == "0")),
            if value == "0" { 1 } else { all }
        );
    });
}

/// A container may leave a process one CPU, or a part of one. All of the runtime works there.
#[cfg(target_os = "linux")]
#[test]
fn one_cpu_is_one_worker_and_everything_works() {
    use colored::io::{AsyncReadExt, AsyncWriteExt};
    use colored::net::TcpStream;
    use colored::time::sleep;
    use colored::{Color, ColorCell};
    use colored_tests::echo;
    use rustix::thread::{CpuSet, sched_setaffinity};

    const TEST: &str = "one_cpu_is_one_worker_and_everything_works";
    shared(|| {
        child::run_after("unset COLORED_WORKERS", module_path!(), TEST, || {
            let all = rustix::thread::sched_getaffinity(None).unwrap();
            let first = (0..CpuSet::MAX_CPU).find(|cpu| all.is_set(*cpu)).unwrap();
            let mut one = CpuSet::new();
            one.set(first);
            sched_setaffinity(None, &one).unwrap();

            let runtime = Runtime::new().unwrap();
            assert_eq!(runtime.metrics().workers.len(), 1);
            let address = echo::serve(runtime.handle());
            let total = runtime.run(async move {
                let total = ColorCell::new(Color::unique(), 0);
                join_all((0..50_u8).map(|number| {
                    let total = total.clone();
                    colored::spawn_unique(async move {
                        sleep(Duration::from_millis(u64::from(number % 5))).await;
                        let mut stream = TcpStream::connect(address).await.unwrap();
                        stream.write_all(&[number]).await.unwrap();
                        let mut answer = [0];
                        stream.read_exact(&mut answer).await.unwrap();
                        let file = spawn_blocking(move || answer[0]).await.unwrap();
                        total.call(move |total| *total += u64::from(file)).await;
                    })
                }))
                .await;
                total.call(|total| *total).await
            });
            assert_eq!(total, (0..50).sum());
            runtime.shutdown_timeout(Duration::from_secs(60)).unwrap();
        });
    });
}

#[test]
fn the_environment_says_what_is_recorded_unless_the_program_does() {
    const TEST: &str = "the_environment_says_what_is_recorded_unless_the_program_does";
    each(TEST, "COLORED_TRACE", &["2"], |_| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        assert_eq!(runtime.handle().trace_level(), Level::Tasks);
        let options = Options::new().trace_level(Level::Off);
        let runtime = Runtime::builder().workers(1).diagnose(options).build().unwrap();
        assert_eq!(runtime.handle().trace_level(), Level::Off);
    });
}
