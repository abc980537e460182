//! Descriptors and their registrations: whatever ends a value ends its registration first, and closes the descriptor then.

use colored::fs::File;
use colored::io::{AsyncFd, AsyncReadExt, AsyncWriteExt, Interest};
use colored::net::unix::pipe;
use colored::net::{TcpListener, TcpStream, UdpSocket, UnixDatagram, UnixListener, UnixStream};
use colored::process::{Child, Command, Stdio};
use colored::signal::unix::{SignalKind, signal};
use colored::time::{Duration, sleep, timeout};
use colored_tests::echo::pair as tcp;
use colored_tests::polls::waits;
use colored_tests::process::tries_streams;
use colored_tests::{child, run, runtime, shared};
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
use std::collections::BTreeSet;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{env, fs, process};

/// A descriptor and the file behind it, by their numbers.
type Registration = (RawFd, String);

/// What the selectors of this process watch.
pub(super) fn registrations() -> BTreeSet<Registration> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir("/proc/self/fd").expect("/proc is mounted").flatten() {
        let is_selector = |path: &Path| path.to_str() == Some("anon_inode:[eventpoll]");
        if !fs::read_link(entry.path()).is_ok_and(|path| is_selector(&path)) {
            continue;
        }
        let info = Path::new("/proc/self/fdinfo").join(entry.file_name());
        for line in fs::read_to_string(info).unwrap_or_default().lines() {
            let Some(rest) = line.strip_prefix("tfd:") else { continue };
            let number = rest.split_whitespace().next().expect("a number follows");
            let (_, file) = rest.split_once("ino:").expect("the file follows");
            found.insert((number.parse().expect("a number"), file.to_owned()));
        }
    }
    found
}

/// Another descriptor of the same open file.
fn duplicate(number: RawFd) -> OwnedFd {
    let process = pidfd_open(getpid(), PidfdFlags::empty()).expect("this process is there");
    pidfd_getfd(process, number, PidfdGetfdFlags::empty()).expect("the descriptor is open")
}

/// Makes a value that registers descriptors, and ends it. Other descriptors of the same files stay open, so that the system
/// does not forget a registration whose descriptor was closed: only deregistering ends it, and only while the descriptor is
/// open.
async fn check_end<T, R>(what: &str, make: impl AsyncFnOnce() -> T, end: impl AsyncFnOnce(T) -> R) {
    let before = registrations();
    let value = make().await;
    let made: Vec<_> = registrations().difference(&before).cloned().collect();
    assert!(!made.is_empty(), "{what}: nothing is registered");
    let _same: Vec<_> = made.iter().map(|(number, _)| duplicate(*number)).collect();
    let left = end(value).await;
    let still: Vec<_> = registrations().difference(&before).cloned().collect();
    assert!(still.is_empty(), "{what}: of {made:?}, still registered: {still:?}");
    drop(left);
}

/// Polls a future, which has to wait, once.
async fn expect_pending<F: Future>(future: F) {
    assert!(waits(pin!(future)).await, "there is nothing to wait for");
}

async fn unix() -> (UnixStream, UnixStream) {
    UnixStream::pair().unwrap()
}

/// A pipe whose reading end is a file that has waited.
async fn file() -> (File, std::io::PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    let mut file = File::try_from(OwnedFd::from(reader)).unwrap();
    expect_pending(file.read(&mut [0])).await;
    (file, writer)
}

/// A child each of whose pipes has waited.
async fn child_with_pipes() -> Child {
    let mut command = Command::new("sleep");
    command.arg("1000").kill_on_drop(true);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    expect_pending(child.stdout.as_mut().unwrap().read_u8()).await;
    expect_pending(child.stderr.as_mut().unwrap().read_u8()).await;
    expect_pending(child.stdin.as_mut().unwrap().write_all(&vec![0; 1 << 20])).await;
    child
}

fn path(name: &str) -> std::path::PathBuf {
    env::temp_dir().join(format!("colored-registered-{}-{name}", process::id()))
}

async fn sockets() {
    check_end("TcpListener", async || TcpListener::bind("127.0.0.1:0").await, async |of| drop(of))
        .await;
    let listen = async || TcpListener::bind("127.0.0.1:0").await.unwrap();
    check_end("TcpListener::into_std", listen, async |of| of.into_std().unwrap()).await;
    check_end("TcpStream", tcp, async |of| drop(of)).await;
    let both = async |(one, other): (TcpStream, TcpStream)| {
        (one.into_std().unwrap(), other.into_std().unwrap())
    };
    check_end("TcpStream::into_std", tcp, both).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // Again, if the reactor's thread was so fast that there is nothing to wait for.
    let connecting = async || loop {
        let mut connect = Box::pin(TcpStream::connect(address));
        if waits(connect.as_mut()).await {
            break (connect, ());
        }
    };
    check_end("a connect that is dropped", connecting, async |of| drop(of)).await;
    let udp = async || UdpSocket::bind("127.0.0.1:0").await.unwrap();
    check_end("UdpSocket", udp, async |of| drop(of)).await;
    check_end("UdpSocket::into_std", udp, async |of| of.into_std().unwrap()).await;

    let place = path("listener");
    let listen = async || UnixListener::bind(&place).unwrap();
    check_end("UnixListener", listen, async |of| drop(of)).await;
    fs::remove_file(&place).unwrap();
    check_end("UnixListener::into_std", listen, async |of| of.into_std().unwrap()).await;
    fs::remove_file(&place).unwrap();
    check_end("UnixStream", unix, async |of| drop(of)).await;
    let both = async |(one, other): (UnixStream, UnixStream)| {
        (one.into_std().unwrap(), other.into_std().unwrap())
    };
    check_end("UnixStream::into_std", unix, both).await;
    let datagrams = async || UnixDatagram::pair().unwrap();
    check_end("UnixDatagram", datagrams, async |of| drop(of)).await;
    let both = async |(one, other): (UnixDatagram, UnixDatagram)| {
        (one.into_std().unwrap(), other.into_std().unwrap())
    };
    check_end("UnixDatagram::into_std", datagrams, both).await;
    let pipe = async || pipe::pipe().unwrap();
    check_end("the ends of a pipe", pipe, async |of| drop(of)).await;
    let both = async |(sender, receiver): (pipe::Sender, pipe::Receiver)| {
        (sender.into_blocking_fd().unwrap(), receiver.into_nonblocking_fd().unwrap())
    };
    check_end("the descriptors of a pipe", pipe, both).await;
}

async fn halves() {
    let read_first = async |(one, _other): (TcpStream, TcpStream)| {
        let (read, write) = one.into_split();
        drop(read);
        drop(write);
    };
    check_end("halves of TCP, reading first", tcp, read_first).await;
    let write_first = async |(one, _other): (UnixStream, UnixStream)| {
        let (read, write) = one.into_split();
        drop(write);
        drop(read);
    };
    check_end("halves of a Unix socket, writing first", unix, write_first).await;
    let reunite = async |(one, _other): (TcpStream, TcpStream)| {
        let before = registrations();
        let (read, write) = one.into_split();
        let whole = read.reunite(write).unwrap();
        assert_eq!(registrations(), before, "it is registered as it was");
        whole.into_std().unwrap()
    };
    check_end("a connection that was split", tcp, reunite).await;
}

async fn descriptors() {
    let watch = async || {
        let (near, far) = StdUnixStream::pair().unwrap();
        far.set_nonblocking(true).unwrap();
        (AsyncFd::new(far).unwrap(), near)
    };
    check_end("AsyncFd", watch, async |of| drop(of)).await;
    check_end("AsyncFd::into_inner", watch, async |(fd, _)| fd.into_inner().unwrap()).await;
    let interest = async || {
        let (near, far) = StdUnixStream::pair().unwrap();
        (AsyncFd::with_interest(far, Interest::PRIORITY).unwrap(), near)
    };
    check_end("AsyncFd::with_interest", interest, async |of| drop(of)).await;
    // The second one is refused, and the first one stays.
    let twice = async |(fd, near): (AsyncFd<StdUnixStream>, StdUnixStream)| {
        let fd = Arc::new(fd);
        let before = registrations();
        let refused = AsyncFd::try_new(Arc::clone(&fd)).unwrap_err();
        let (same, error) = refused.into_parts();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(same.as_raw_fd(), fd.as_raw_fd());
        drop(same);
        assert_eq!(registrations(), before);
        drop((fd, near));
    };
    check_end("AsyncFd::try_new that fails", watch, twice).await;
    let signals = async || signal(SignalKind::user_defined2()).unwrap();
    check_end("Signal", signals, async |of| drop(of)).await;
}

async fn files() {
    check_end("File", file, async |of| drop(of)).await;
    check_end("File, its other end first", file, async |(file, writer)| {
        drop(writer);
        drop(file);
    })
    .await;
    check_end("File::into_std", file, async |(file, _)| file.into_std().await.unwrap()).await;
    check_end("File::try_into_std", file, async |(file, _)| file.try_into_std().unwrap()).await;
    let clones = async |(mut file, _writer): (File, _)| {
        let mut clone = file.try_clone().await.unwrap();
        expect_pending(clone.read(&mut [0])).await;
        let _same = duplicate(clone.as_raw_fd());
        drop(file);
        drop(clone);
    };
    check_end("a file and its clone", file, clones).await;
    let again = async |(file, _writer): (File, _)| {
        let mut file = File::from_std(file.into_std().await.unwrap()).unwrap();
        expect_pending(file.read(&mut [0])).await;
        let receiver = pipe::Receiver::from_file(file.into_std().await.unwrap()).unwrap();
        AsyncFd::new(receiver.into_nonblocking_fd().unwrap()).unwrap().into_inner().unwrap()
    };
    check_end("a file that becomes a pipe's end and an AsyncFd", file, again).await;
}

async fn children() {
    let dropped = async |child: Child| {
        let registered = registrations().len();
        drop(child);
        // A task waits for the end of the program, which was killed.
        for _ in 0..1000 {
            if registrations().len() <= registered - 4 {
                break;
            }
            sleep(Duration::from_millis(5)).await;
        }
    };
    check_end("a child with pipes", child_with_pipes, dropped).await;
    let converted = async |mut child: Child| {
        let stdin = child.stdin.take().unwrap().into_std().await;
        let stdout = child.stdout.take().unwrap().into_std().await;
        let stderr = child.stderr.take().unwrap().into_std().await;
        child.kill().await.unwrap();
        (stdin.unwrap(), stdout.unwrap(), stderr.unwrap())
    };
    check_end("pipes of a child as files", child_with_pipes, converted).await;
}

#[test]
fn every_registration_ends_before_its_descriptor() {
    child::run(module_path!(), "every_registration_ends_before_its_descriptor", || {
        // One worker: no other one takes an event between two steps of a poll.
        run(1, async {
            sockets().await;
            halves().await;
            descriptors().await;
            // Otherwise files are never registered.
            if tries_streams() {
                files().await;
                children().await;
            }
        });
    });
}

/// A read of a clone waits as that of the first handle does. What is waited for is registered, so no thread waits.
/// Shows G13.
#[test]
fn clones_are_registered_again_and_again() {
    child::run(module_path!(), "clones_are_registered_again_and_again", || {
        if !tries_streams() {
            return;
        }
        run(1, async {
            let (mut original, _writer) = file().await;
            let before = registrations();
            for round in 0..3 {
                let mut clone = original.try_clone().await.unwrap();
                expect_pending(clone.read(&mut [0])).await;
                assert_eq!(registrations().len(), before.len() + 1, "round {round}");
                drop(clone);
                assert_eq!(registrations(), before, "round {round}");
            }
        });
    });
}

/// What the system refuses to watch, a thread waits for; the next wait asks the system again.
/// Shows G13.
#[test]
fn a_refused_registration_is_tried_again() {
    child::run(module_path!(), "a_refused_registration_is_tried_again", || {
        if !tries_streams() {
            return;
        }
        run(1, async {
            let (reader, mut writer) = std::io::pipe().unwrap();
            let mut file = File::try_from(OwnedFd::from(reader)).unwrap();
            // The number is taken.
            let first = AsyncFd::new(file.as_raw_fd()).unwrap();
            for byte in [1, 2] {
                let (before, mut bytes) = (registrations(), [0]);
                {
                    let mut read = pin!(file.read(&mut bytes));
                    expect_pending(read.as_mut()).await;
                    assert_eq!(registrations(), before);
                    writer.write_all(&[byte]).unwrap();
                    assert_eq!(read.await.unwrap(), 1);
                }
                assert_eq!(bytes, [byte]);
            }
            first.into_inner().unwrap();
            let before = registrations();
            expect_pending(file.read(&mut [0])).await;
            assert_eq!(registrations().difference(&before).count(), 1);
        });
    });
}

/// A socket may outlive its runtime, and tasks of another one may use it.
#[test]
fn a_registration_stays_with_its_runtime_and_ends_after_it() {
    let name = "a_registration_stays_with_its_runtime_and_ends_after_it";
    child::run(module_path!(), name, || {
        if !tries_streams() {
            return;
        }
        shared(|| {
            let (first, second) = (runtime(1), runtime(1));
            let before = registrations();
            let (one, other, file) = first.run(async {
                let (one, other) = unix().await;
                (one, other, file().await)
            });
            let made = registrations();
            assert_eq!(made.difference(&before).count(), 3);
            let _same: Vec<_> =
                made.difference(&before).map(|(number, _)| duplicate(*number)).collect();
            // The sockets are used, and one of them is dropped, in the other runtime.
            let one = second.run(async move {
                let (mut one, mut other) = (one, other);
                let read = colored::spawn_unique(async move {
                    let read = one.read_u8().await.unwrap();
                    (one, read)
                });
                other.write_u8(7).await.unwrap();
                let (one, read) = read.await.unwrap();
                assert_eq!(read, 7);
                drop(other);
                one
            });
            assert_eq!(registrations().difference(&before).count(), 2);
            drop(first);
            let left = registrations().difference(&before).count();
            assert_eq!(left, 2, "the socket keeps the selector");
            drop(file);
            assert_eq!(registrations().difference(&before).count(), 1);
            second.run(async move {
                let mut one = one;
                // Of the two, the end of the stream was there first.
                let error = one.read_u8().await.unwrap_err();
                assert!(error.to_string().contains("shut down"), "{error}");
                let one = one.into_std().unwrap();
                drop(one);
            });
            assert_eq!(registrations().difference(&before).count(), 0);
        });
    });
}

/// How long the two kinds of work go on beside each other.
const TIME: Duration = Duration::from_millis(700);

/// Makes connections until `over`, each with a task that waits for a byte, and counts the bytes.
async fn fresh_sockets(over: Arc<AtomicBool>, arrived: Arc<AtomicU64>) {
    // Ordering: counts, and a flag that stands for itself.
    while !over.load(Ordering::Relaxed) {
        let (mut one, mut other) = unix().await;
        let write = async {
            colored::task::yield_now().await;
            other.write_u8(1).await.unwrap();
        };
        let (read, ()) = colored::join!(one.read_u8(), write);
        arrived.fetch_add(u64::from(read.unwrap()), Ordering::Relaxed);
    }
}

async fn dying_pipes(over: Arc<AtomicBool>) {
    while !over.load(Ordering::Relaxed) {
        drop(file().await);
        colored::task::yield_now().await;
    }
}

async fn dying_children(over: Arc<AtomicBool>) {
    while !over.load(Ordering::Relaxed) {
        let output = Command::new("echo").arg("x").output().await.unwrap();
        assert_eq!(output.stdout, b"x\n");
    }
}

/// A closed pipe whose number a fresh socket has got takes nothing from that socket.
#[test]
fn fresh_sockets_get_their_events_beside_dying_pipes_and_children() {
    let name = "fresh_sockets_get_their_events_beside_dying_pipes_and_children";
    child::run(module_path!(), name, || {
        run(4, async {
            let (over, arrived) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
            let dying = [(); 2].map(|()| colored::spawn_unique(dying_pipes(Arc::clone(&over))));
            let children = colored::spawn_unique(dying_children(Arc::clone(&over)));
            let fresh = [(); 2].map(|()| {
                colored::spawn_unique(fresh_sockets(Arc::clone(&over), Arc::clone(&arrived)))
            });
            sleep(TIME).await;
            over.store(true, Ordering::Relaxed);
            for task in fresh {
                let ended = timeout(Duration::from_secs(20), task).await;
                let arrived = arrived.load(Ordering::Relaxed);
                ended.unwrap_or_else(|_| panic!("an event is lost, after {arrived}")).unwrap();
            }
            for task in dying.into_iter().chain([children]) {
                task.await.unwrap();
            }
            assert!(arrived.load(Ordering::Relaxed) > 100, "{arrived:?} connections");
        });
    });
}
