//! The system gives no thread: each operation that needs one returns an error that names what was to be done and to what,
//! and works as soon as there are threads again.
//!
//! A thread takes its stack from the address space, so a process whose threads have large stacks, and which may take no more
//! address space than for a few small allocations, gets no thread (`EAGAIN`). Unlike a filter of system calls, this limit
//! can be taken away again.

use colored::diagnose::Options;
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::runtime::Tuning;
use colored::{Builder, Runtime, fs, net, time};
use colored_tests::{child, shared, wait_until};
use rustix::process::{Resource, getrlimit, setrlimit};
use std::io::{self, SeekFrom};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

/// Of each thread of the process.
const STACK: u64 = 256 << 20;

/// Lets `f` run while there are no more threads.
fn without_threads<R>(f: impl FnOnce() -> R) -> R {
    // The system's library keeps stacks of threads that have ended, for the next ones: these take them.
    let (ends, end) = mpsc::channel::<()>();
    let end = Arc::new(Mutex::new(end));
    for _ in 0..8 {
        let end = Arc::clone(&end);
        thread::spawn(move || drop(end.lock().map(|end| end.recv())));
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    let kib: u64 = size.trim().trim_end_matches(" kB").parse().unwrap();
    let before = getrlimit(Resource::As);
    let mut limited = before;
    limited.current = Some(kib * 1024 + STACK / 4 * 3);
    setrlimit(Resource::As, limited).unwrap();
    let result = f();
    setrlimit(Resource::As, before).unwrap();
    drop(ends);
    result
}

/// The limit may also refuse memory that a process needs, and then it aborts, or waits for ever: such a run does not count.
fn in_child(function: &str, body: impl Fn()) {
    // A backtrace needs more memory than there is.
    let set = format!("export RUST_MIN_STACK={STACK} RUST_BACKTRACE=0");
    let line = format!("{set}; exec timeout 30 \"$0\" \"$@\"");
    let run = || child::run_after(&line, module_path!(), function, &body);
    shared(|| {
        let is_child = std::env::var_os(child::VARIABLE).is_some();
        let others = if is_child { 0 } else { 4 };
        let has_run = || panic::catch_unwind(AssertUnwindSafe(run)).is_ok();
        if !(0..others).any(|_| has_run()) {
            run();
        }
    });
}

#[track_caller]
fn assert_names(operation: &str, error: &io::Error, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{operation}: {text:?} does not say {part:?}");
    }
}

/// An operation, what its error has to say, and what came of it.
type Said = (&'static str, Vec<String>, io::Result<()>);

/// Operations of an open file.
async fn of_a_file(file: &mut fs::File, path: &Path, said: &mut Vec<Said>) {
    let name = path.display().to_string();
    let mut note = |operation, done| {
        said.push((operation, vec![format!("cannot {operation} {name}")], done));
    };
    let mut bytes = [0; 4];
    note("read", file.read_at(&mut bytes, 0).await.map(drop));
    note("read", file.read(&mut bytes).await.map(drop));
    note("read", file.read_exact(&mut bytes[..1]).await.map(drop));
    note("write to", file.write_at(b"x", 0).await.map(drop));
    note("write to", file.write(b"x").await.map(drop));
    note("write to", file.write_all(b"x").await);
    note("sync", file.sync_all().await);
    note("sync", file.sync_data().await);
    note("read the metadata of", file.metadata().await.map(drop));
    note("set the length of", file.set_len(9).await);
    note("seek in", file.seek(SeekFrom::End(0)).await.map(drop));
    // It begins with the length of the file.
    note("read the metadata of", file.read_to_end(&mut Vec::new()).await.map(drop));
    let permissions = std::fs::metadata(path).unwrap().permissions();
    note("set the permissions of", file.set_permissions(permissions).await);
}

/// Opens the file, and waits until no thread of the pool is left.
fn open(runtime: &Runtime, path: &Path) -> fs::File {
    let path = path.to_owned();
    let file = runtime
        .run(async move { fs::File::options().read(true).write(true).open(path).await.unwrap() });
    let is_of_pool = |task: io::Result<std::fs::DirEntry>| {
        let name = std::fs::read_to_string(task.unwrap().path().join("comm"));
        name.is_ok_and(|name| name.starts_with("colored-fil"))
    };
    wait_until(|| !std::fs::read_dir("/proc/self/task").unwrap().any(is_of_pool));
    file
}

/// Operations on paths.
async fn of_paths(dir: &Path, said: &mut Vec<Said>) {
    let (file, new) = (dir.join("file"), dir.join("new"));
    let mut note = |operation: &'static str, path: &Path, done: io::Result<()>| {
        said.push((operation, vec![path.display().to_string()], done));
    };
    let permissions = std::fs::metadata(&file).unwrap().permissions();
    note("open", &file, fs::File::open(&file).await.map(drop));
    note("create", &new, fs::File::create(&new).await.map(drop));
    note("read", &file, fs::read(&file).await.map(drop));
    note("read to a string", &file, fs::read_to_string(&file).await.map(drop));
    note("write", &new, fs::write(&new, "text").await);
    note("metadata", &file, fs::metadata(&file).await.map(drop));
    note("metadata of a link", &file, fs::symlink_metadata(&file).await.map(drop));
    note("exists", &file, fs::try_exists(&file).await.map(drop));
    note("canonical", &file, fs::canonicalize(&file).await.map(drop));
    note("permissions", &file, fs::set_permissions(&file, permissions).await);
    note("copy", &file, fs::copy(&file, &new).await.map(drop));
    note("rename", &new, fs::rename(&new, dir.join("newer")).await);
    note("link", &file, fs::hard_link(&file, dir.join("link")).await);
    note("symbolic link", &file, fs::symlink(&file, dir.join("symbolic")).await);
    note("target", &dir.join("symbolic"), fs::read_link(dir.join("symbolic")).await.map(drop));
    note("create a directory", &dir.join("d"), fs::create_dir(dir.join("d")).await);
    note("create directories", &dir.join("e/f"), fs::create_dir_all(dir.join("e/f")).await);
    note("list", dir, fs::read_dir(dir).await.map(drop));
    note("remove a file", &dir.join("newer"), fs::remove_file(dir.join("newer")).await);
    note("remove a directory", &dir.join("d"), fs::remove_dir(dir.join("d")).await);
    note("remove all", &dir.join("e"), fs::remove_dir_all(dir.join("e")).await);
}

/// Operations on names of hosts, and on the standard streams.
async fn of_others(said: &mut Vec<Said>) {
    let port = net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let name = format!("localhost:{}", port.local_addr().unwrap().port());
    let mut note =
        |operation, part: &str, done| said.push((operation, vec![part.to_owned()], done));
    note("look up", "localhost", net::lookup_host(&name).await.map(drop));
    note("connect", "localhost", net::TcpStream::connect(&name).await.map(drop));
    note("listen", "localhost", net::TcpListener::bind("localhost:0").await.map(drop));
    note("bind", "localhost", net::UdpSocket::bind("localhost:0").await.map(drop));
    let socket = net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    note("connect UDP", "localhost", socket.connect(&name).await);
    note("send", "localhost", socket.send_to(b"x", &name).await.map(drop));
    note("print", "write to the standard output", colored::io::stdout().write_all(b"\n").await);
    note("print an error", "write to the standard", colored::io::stderr().write_all(b"\n").await);
    // Without a thread of the runtime.
    let status = colored::process::Command::new("true").status().await;
    note("run a program", "", status.map(drop));
}

fn all(runtime: &Runtime, mut file: fs::File, dir: &Path) -> Vec<Said> {
    let dir = dir.to_owned();
    runtime.run(async move {
        let mut said = Vec::new();
        let work = async {
            of_a_file(&mut file, &dir.join("file"), &mut said).await;
            of_paths(&dir, &mut said).await;
            of_others(&mut said).await;
        };
        time::timeout(Duration::from_secs(20), work)
            .await
            .expect("no operation waits for a thread");
        said
    })
}

#[test]
fn without_a_thread_each_operation_names_itself_and_its_object() {
    in_child("without_a_thread_each_operation_names_itself_and_its_object", || {
        let dir = std::env::temp_dir().join(format!("colored-no-thread-{}", std::process::id()));
        let builder =
            Runtime::builder().workers(2).tuning(Tuning::new().spare_workers(0).lazy_files(false));
        let runtime = builder.thread_keep_alive(Duration::ZERO).build().unwrap();
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("file"), "0123456789").unwrap();
        let file = open(&runtime, &dir.join("file"));
        let refused = without_threads(|| all(&runtime, file, &dir));
        let mut failed = 0;
        for (operation, parts, done) in &refused {
            let Err(error) = done else { continue };
            failed += 1;
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            assert_names(operation, error, &parts);
            assert!(
                error.to_string().contains("no thread") || error.kind() == io::ErrorKind::NotFound,
                "{operation}: {error}"
            );
        }
        // Nothing but the program needs no thread here.
        assert_eq!(failed, refused.len() - 1, "{refused:#?}");
        let file = open(&runtime, &dir.join("file"));
        for (operation, _, done) in all(&runtime, file, &dir) {
            assert!(done.is_ok(), "{operation} with threads: {done:?}");
        }
        std::fs::remove_dir_all(dir).unwrap();
    });
}

#[test]
fn a_runtime_without_threads_does_not_start() {
    in_child("a_runtime_without_threads_does_not_start", || {
        let socket = std::env::temp_dir().join(format!("colored-none-{}.sock", std::process::id()));
        type Build = fn(Builder, &Path) -> io::Result<()>;
        let cases: [(&str, Build); 3] = [
            ("`colored-w0`", |builder, _| builder.tokio_context(false).build().map(drop)),
            ("`colored-tokio`", |builder, _| builder.build().map(drop)),
            ("`colored-inspect`", |builder, path| {
                builder.diagnose(Options::new().inspect(path)).build_embedded().map(drop)
            }),
        ];
        for (thread, build) in cases {
            let builder = || Runtime::builder();
            // A thread that has ended only now may have left its stack for one of these.
            let mut said = Vec::new();
            let is_told = (0..20).any(|_| {
                let error = without_threads(|| build(builder(), &socket)).err();
                said.extend(error.map(|error| error.to_string()));
                let is_named = |text: &String| {
                    text.contains("cannot start the thread") && text.contains(thread)
                };
                said.last().is_some_and(is_named)
            });
            assert!(is_told, "without the thread {thread}: {said:?}");
            assert!(!socket.exists());
            build(builder(), &socket).unwrap();
        }
    });
}

/// With no thread of the pool, a blocking call panics as documented, and its message says why; then it works.
#[test]
fn a_blocking_call_without_a_thread_says_so() {
    in_child("a_blocking_call_without_a_thread_says_so", || {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let call = || async { colored::spawn_blocking(|| 7).await.unwrap() };
        let joined = without_threads(|| runtime.run(async move { colored::spawn(call()).await }));
        let payload = joined.unwrap_err().try_into_panic().unwrap();
        let text = payload.downcast_ref::<String>().unwrap();
        assert!(text.contains("the system gives no thread for a blocking call"), "{text}");
        assert_eq!(runtime.run(call()), 7);
    });
}
