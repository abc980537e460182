//! What may wait for ever stops nothing that does not, and keeps no program from its end.

use super::{in_all_modes, runtime_that_is};
use colored::fs::File;
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::time::{Duration, sleep, timeout};
use colored::{JoinHandle, Runtime, spawn_unique};
use colored_tests::scratch::Scratch;
use colored_tests::{child, process, run, shared, terminal};
use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::io::ioctl_fionbio;
use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use std::io::{ErrorKind, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::mpsc::{TryRecvError, channel};
use std::time::Instant;

/// More than there are threads of any class.
const MANY: usize = 70;

/// Longer than anything takes, and shorter than for ever.
const LONG: Duration = Duration::from_secs(20);

fn file(of: impl Into<OwnedFd>) -> File {
    File::from_std(std::fs::File::from(of.into())).unwrap()
}

fn pipes(scratch: &Scratch) -> Vec<PathBuf> {
    let paths: Vec<_> = (0..MANY).map(|n| scratch.join(&format!("pipe{n}"))).collect();
    paths.iter().for_each(|path| mkfifoat(CWD, path, Mode::RWXU).unwrap());
    paths
}

/// What does not wait: a file, its path, a device, a terminal, a pipe that has both ends.
async fn check_that_others_go_on(scratch: &Scratch) {
    let path = scratch.file("other", "bytes");
    let all = async {
        assert_eq!(colored::fs::read(&path).await.unwrap(), b"bytes");
        colored::fs::write(&path, "others").await.unwrap();
        assert_eq!(colored::fs::metadata(&path).await.unwrap().len(), 6);
        let mut zero = File::options().read(true).write(true).open("/dev/zero").await.unwrap();
        assert_eq!(zero.read(&mut [1; 10]).await.unwrap(), 10);
        assert_eq!(zero.write(&[1; 10]).await.unwrap(), 10);
        let status = colored::fs::read_to_string("/proc/self/status").await.unwrap();
        assert!(status.starts_with("Name:"));
        let (reader, writer) = std::io::pipe().unwrap();
        file(writer).write(b"x").await.unwrap();
        assert_eq!(file(reader).read(&mut [0; 2]).await.unwrap(), 1);
    };
    timeout(LONG, all).await.expect("what waits stops nothing else");
}

/// Begins to open, and returns when as many wait as can.
async fn opening(paths: &[PathBuf], writes: bool) -> Vec<JoinHandle<std::io::Result<File>>> {
    let open = |path: &PathBuf| {
        let path = path.clone();
        spawn_unique(async move { File::options().read(!writes).write(writes).open(path).await })
    };
    let tasks = paths.iter().map(open).collect();
    let class = if writes { "-opw-" } else { "-opr-" };
    let waiting =
        || process::threads().values().filter(|thread| thread.name.contains(class)).count();
    while waiting() < 64 {
        sleep(Duration::from_millis(1)).await;
    }
    tasks
}

/// Shows G13.
#[test]
fn openings_that_wait_for_their_other_end_stop_only_their_like() {
    child::run(
        module_path!(),
        "openings_that_wait_for_their_other_end_stop_only_their_like",
        || {
            for writes in [false, true] {
                run(1, async move {
                    let scratch = Scratch::new();
                    let paths = pipes(&scratch);
                    let waiting = opening(&paths, writes).await;
                    check_that_others_go_on(&scratch).await;
                    // Both ends do not wait for each other, whoever is in line.
                    let other = |path: &PathBuf| {
                        let path = path.clone();
                        spawn_unique(async move {
                            File::options().read(writes).write(!writes).open(path).await
                        })
                    };
                    let others: Vec<_> = paths.iter().map(other).collect();
                    for (first, other) in waiting.into_iter().zip(others) {
                        let both = async { (first.await.unwrap(), other.await.unwrap()) };
                        let (first, other) = timeout(LONG, both).await.expect("they meet");
                        let (first, other) = (first.unwrap(), other.unwrap());
                        let (mut from, mut to) =
                            if writes { (other, first) } else { (first, other) };
                        to.write(b"x").await.unwrap();
                        assert_eq!(from.read(&mut [0; 2]).await.unwrap(), 1);
                    }
                });
            }
        },
    );
}

/// The other end is opened for both.
/// Shows G13.
#[test]
fn an_opening_for_both_directions_waits_for_nobody() {
    run(1, async {
        let scratch = Scratch::new();
        let path = scratch.join("pipe");
        mkfifoat(CWD, &path, Mode::RWXU).unwrap();
        let mut both = File::options().read(true).write(true).open(&path).await.unwrap();
        let mut writer = File::options().write(true).open(&path).await.unwrap();
        let mut reader = File::open(&path).await.unwrap();
        writer.write(b"abc").await.unwrap();
        assert_eq!(reader.read(&mut [0; 1]).await.unwrap(), 1);
        assert_eq!(both.read(&mut [0; 5]).await.unwrap(), 2);
        let mode = rustix::fs::fcntl_getfl(&writer).unwrap();
        assert!(!mode.contains(rustix::fs::OFlags::NONBLOCK), "as std has opened it");
    });
}

/// Shows G13.
#[test]
fn an_opening_that_waits_does_not_keep_the_program() {
    child::run(module_path!(), "an_opening_that_waits_does_not_keep_the_program", || {
        shared(|| {
            let scratch = Scratch::new();
            let path = scratch.join("pipe");
            mkfifoat(CWD, &path, Mode::RWXU).unwrap();
            run(1, async move {
                let copied = colored::fs::copy(path.clone(), path.with_extension("copy"));
                assert!(timeout(Duration::from_millis(10), copied).await.is_err());
                assert!(timeout(Duration::from_millis(10), File::open(path)).await.is_err());
            });
        });
    });
}

/// Shows G13.
#[test]
fn terminals_that_wait_stop_no_other_terminal() {
    child::run(module_path!(), "terminals_that_wait_stop_no_other_terminal", || {
        for lazy in [true, false] {
            let runtime = runtime_that_is(lazy, 1);
            runtime.run(async {
                let scratch = Scratch::new();
                let mut tasks = Vec::new();
                for _ in 0..MANY {
                    let (master, slave) = terminal::raw().unwrap();
                    let mut slave = file(slave);
                    let task = spawn_unique(async move {
                        let mut bytes = [0; 10];
                        let n = slave.read(&mut bytes).await.unwrap();
                        // It is a stream in both directions.
                        slave.write_all(&bytes[..n]).await.unwrap();
                        slave
                    });
                    tasks.push((master, task));
                }
                sleep(Duration::from_millis(20)).await;
                check_that_others_go_on(&scratch).await;
                let mut out = colored::io::stdout();
                timeout(LONG, out.write_all(b"to the output\n")).await.unwrap().unwrap();
                let waits = |class: &str| {
                    process::threads().values().filter(|it| it.name.contains(class)).count()
                };
                // Without attempts a pipe takes a thread.
                assert!(waits("-str-") <= 2, "the reactor waits for them");
                // The last one first.
                while let Some((master, task)) = tasks.pop() {
                    let mut master = file(master);
                    master.write(b"abc").await.unwrap();
                    let _slave = timeout(LONG, task).await.expect("others wait apart").unwrap();
                    let mut echo = [0; 10];
                    assert_eq!(master.read(&mut echo).await.unwrap(), 3);
                    assert_eq!(echo[..3], *b"abc");
                }
            });
        }
    });
}

/// Shows G13.
#[test]
fn a_dropped_read_of_a_terminal_takes_nothing() {
    in_all_modes(|| async {
        let (mut master, slave) =
            terminal::raw().map(|(m, s)| (std::fs::File::from(m), s)).unwrap();
        let mut slave = file(slave);
        let mut bytes = [0; 4];
        let read = slave.read(&mut bytes);
        assert!(timeout(Duration::from_millis(10), read).await.is_err());
        master.write_all(b"abcdef").unwrap();
        let mut read = Vec::new();
        while read.len() < 6 {
            let n = AsyncReadExt::read(&mut slave, &mut bytes).await.unwrap();
            read.extend_from_slice(&bytes[..n]);
        }
        assert_eq!(read, b"abcdef");
    });
}

/// In such a mode a read ends although there is nothing.
/// Shows G13.
#[test]
fn a_terminal_that_does_not_wait_is_not_waited_for() {
    in_all_modes(|| async {
        let (_master, slave) = terminal::raw().unwrap();
        let mut modes = tcgetattr(&slave).unwrap();
        modes.special_codes[SpecialCodeIndex::VMIN] = 0;
        modes.special_codes[SpecialCodeIndex::VTIME] = 1;
        tcsetattr(&slave, OptionalActions::Now, &modes).unwrap();
        let n = timeout(LONG, file(slave).read(&mut [0; 4])).await;
        assert_eq!(n.expect("it ends").unwrap(), 0);
    });
}

/// The mode of the descriptor may be that of another process.
/// Shows G13.
#[test]
fn a_descriptor_in_non_blocking_mode_is_waited_for() {
    in_all_modes(|| async {
        let scratch = Scratch::new();
        let path = scratch.join("pipe");
        mkfifoat(CWD, &path, Mode::RWXU).unwrap();
        let mut both = std::fs::File::options();
        let pipe = both.read(true).write(true).open(path).unwrap();
        let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
        let (master, slave) = terminal::raw().unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        let pairs: [(OwnedFd, OwnedFd); 5] = [
            (reader.into(), writer.into()),
            (near.into(), far.into()),
            (pipe.try_clone().unwrap().into(), pipe.into()),
            (master.try_clone().unwrap(), slave.try_clone().unwrap()),
            (slave, master),
        ];
        for (reads, writes) in pairs {
            ioctl_fionbio(&reads, true).unwrap();
            ioctl_fionbio(&writes, true).unwrap();
            let (mut reads, mut writes) = (file(reads), file(writes));
            let sent: Vec<_> = (0..200_000_u32).map(|i| (i * 7 + i / 251) as u8).collect();
            let bytes = sent.clone();
            let writer = spawn_unique(async move {
                sleep(Duration::from_millis(5)).await;
                writes.write_all(&bytes).await.unwrap();
                writes
            });
            let mut read = vec![0; sent.len()];
            reads.read_exact(&mut read).await.unwrap();
            assert!(read == sent);
            let _writes = writer.await.unwrap();
        }
    });
}

fn say(text: &str) -> std::io::Result<()> {
    std::fs::File::options().write(true).open("/dev/kmsg")?.write_all(text.as_bytes())
}

/// A regular file that has no length, and waits: the messages of the kernel.
/// Shows G13.
#[test]
fn a_regular_file_that_waits_gives_what_is_there() {
    child::run(module_path!(), "a_regular_file_that_waits_gives_what_is_there", || {
        if std::fs::File::open("/proc/kmsg").is_err() || say("<7>twin").is_err() {
            println!("skipped: the messages of the kernel are not for this user");
            return;
        }
        // Other programs may read them, too.
        let (stop, stopped) = channel::<()>();
        let speaker = std::thread::spawn(move || {
            while stopped.try_recv() == Err(TryRecvError::Empty) {
                say("<7>colored: a message of a test").unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
        });
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let waiting = runtime.run(async {
            let mut file = File::open("/proc/kmsg").await.unwrap();
            let mut buf = vec![0; 1 << 16];
            for _ in 0..2 {
                let n = timeout(LONG, file.read(&mut buf)).await.expect("one is there").unwrap();
                assert!(n > 0);
                let read = AsyncReadExt::read(&mut file, &mut buf);
                assert!(timeout(LONG, read).await.expect("one is there").unwrap() > 0);
            }
            let many: Vec<_> = (0..MANY)
                .map(|_| {
                    spawn_unique(async {
                        let mut file = File::open("/proc/kmsg").await.unwrap();
                        loop {
                            file.read(&mut [0; 1 << 12]).await.unwrap();
                        }
                    })
                })
                .collect();
            check_that_others_go_on(&Scratch::new()).await;
            many
        });
        drop(stop);
        speaker.join().unwrap();
        let begin = Instant::now();
        drop(waiting);
        drop(runtime);
        assert!(begin.elapsed() < LONG);
    });
}

/// Shows G13.
#[test]
fn a_device_is_sought_as_the_system_does() {
    in_all_modes(|| async {
        let mut zero = File::open("/dev/zero").await.unwrap();
        assert_eq!(zero.seek(SeekFrom::End(-5)).await.unwrap(), 0, "it stays at its start");
        let (_master, slave) = terminal::raw().unwrap();
        let error = file(slave).seek(SeekFrom::Start(0)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotSeekable);
    });
}
