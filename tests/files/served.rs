//! Files that a process serves by FUSE, here a thread of the test: they give what they have, and wait for more.

use super::runtime_that_is;
use colored::fs::File;
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::time::{Duration, sleep, timeout};
use colored::{Runtime, spawn_unique};
use colored_tests::child;
use colored_tests::scratch::Scratch;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use std::ffi::CString;
use std::io::{ErrorKind, Read, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

const LONG: Duration = Duration::from_secs(20);

/// More than there are threads of any class.
const MANY: usize = 70;

/// Without the page cache.
const DIRECT: u32 = 1;
/// Without positions.
const STREAM: u32 = 4 | 16;

/// The files by their number: a name, a length, and the flags of an opening. The last one is as on a disk.
const FILES: [(&str, u64, u32); 4] = [
    ("messages", 0, DIRECT),
    ("long", 1 << 20, DIRECT),
    ("stream", 0, DIRECT | STREAM),
    ("plain", 10_000, 0),
];
const ROOT: u64 = 1;
const FIRST: u64 = 2;

fn pattern() -> Vec<u8> {
    (0..10_000_u32).map(|i| (i * 7 + i / 251) as u8).collect()
}

#[derive(Default)]
struct State {
    messages: Vec<&'static str>,
    /// The reads that wait.
    waiting: Vec<u64>,
    written: Vec<u8>,
}

/// Waits for the end of the mount, or of the test's process. A read that the thread has taken can be killed only when the
/// connection ends, and it keeps the process and so the connection: without this, a test that is killed never ends.
const GUARD: &str = r#"
    while grep -q " $1 " /proc/self/mounts; do
        if [ ! -d "/proc/$2" ] || grep -q '^State:[[:space:]]*Z' "/proc/$2/status"; then
            umount -f "$1"
            exit
        fi
        sleep 0.2
    done"#;

/// A mounted file system. Its end fails all reads that wait.
struct Served {
    at: PathBuf,
    guard: Child,
    device: Arc<std::fs::File>,
    state: Arc<Mutex<State>>,
}

impl Served {
    /// `None` where the system allows no mounts.
    fn mount(at: &Path) -> Option<Self> {
        let device = std::fs::File::options().read(true).write(true).open("/dev/fuse").ok()?;
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", device.as_raw_fd());
        let options = CString::new(options).unwrap();
        mount("served", at, "fuse", MountFlags::empty(), Some(options.as_c_str())).ok()?;
        // Not in the group of processes that Ctrl-C ends.
        let guard = Command::new("setsid")
            .args(["sh", "-c", GUARD, "guard"])
            .arg(at)
            .arg(std::process::id().to_string())
            .spawn();
        let Ok(guard) = guard else {
            unmount(at, UnmountFlags::FORCE).expect("it is mounted");
            return None;
        };
        let (at, device) = (at.to_owned(), Arc::new(device));
        let served = Self { at, guard, device, state: Arc::default() };
        let (device, state) = (Arc::clone(&served.device), Arc::clone(&served.state));
        thread::spawn(move || {
            let mut request = vec![0; 1 << 18];
            while let Ok(n) = (&*device).read(&mut request) {
                serve(&device, &mut state.lock().unwrap(), &request[..n]);
            }
        });
        Some(served)
    }

    /// A message for one read.
    fn send(&self, message: &'static str) {
        let mut state = self.state.lock().unwrap();
        match state.waiting.pop() {
            Some(read) => reply(&self.device, read, 0, message.as_bytes()),
            None => state.messages.insert(0, message),
        }
    }

    fn waiting(&self) -> usize {
        self.state.lock().unwrap().waiting.len()
    }
}

impl Drop for Served {
    /// Ends all requests, also those that the thread has taken when the process ends.
    fn drop(&mut self) {
        let how = UnmountFlags::FORCE | UnmountFlags::DETACH;
        unmount(&self.at, how).expect("it is mounted");
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }
}

fn reply(mut device: &std::fs::File, unique: u64, error: i32, body: &[u8]) {
    let mut out = Vec::new();
    out.extend(((16 + body.len()) as u32).to_ne_bytes());
    out.extend(error.to_ne_bytes());
    out.extend(unique.to_ne_bytes());
    out.extend(body);
    // A request whose process is gone wants no answer.
    let _sent = device.write(&out);
}

fn word(of: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(of[at..at + 4].try_into().unwrap())
}

fn long(of: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(of[at..at + 8].try_into().unwrap())
}

fn attributes(node: u64) -> Vec<u8> {
    let (length, mode) = match node {
        ROOT => (0, 0o040_755),
        node => (FILES[(node - FIRST) as usize].1, 0o100_644),
    };
    let words = [0, 0, 0, mode, 1, 0, 0, 0, 4096, 0].into_iter().flat_map(u32::to_ne_bytes);
    [node, length, 0, 0, 0, 0].into_iter().flat_map(u64::to_ne_bytes).chain(words).collect()
}

/// Answers a request of the kernel, as far as these tests make any.
fn serve(device: &std::fs::File, state: &mut State, request: &[u8]) {
    let (operation, unique, node) = (word(request, 4), long(request, 8), long(request, 16));
    let body = &request[40..];
    let answer = |bytes: &[u8]| reply(device, unique, 0, bytes);
    match operation {
        // Forgotten files and interrupted requests want no answer.
        2 | 36 | 42 => {}
        26 => {
            let words = [7, 31, 0, 0, 0, 1 << 16, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
            answer(&words.into_iter().flat_map(u32::to_ne_bytes).collect::<Vec<_>>());
        }
        // A name.
        1 => match FILES
            .iter()
            .position(|(name, ..)| body.starts_with(format!("{name}\0").as_bytes()))
        {
            Some(place) => {
                let node = FIRST + place as u64;
                let head = [node, 0, 0, 0, 0].into_iter().flat_map(u64::to_ne_bytes);
                answer(&head.chain(attributes(node)).collect::<Vec<_>>());
            }
            None => reply(device, unique, -2, &[]),
        },
        // Attributes.
        3 | 4 => answer(&[vec![0; 16], attributes(node)].concat()),
        // The file system.
        17 => answer(&[0; 80]),
        // An opening.
        14 => {
            let flags = FILES[(node - FIRST) as usize].2;
            answer(&[0, 0, flags, 0].into_iter().flat_map(u32::to_ne_bytes).collect::<Vec<_>>());
        }
        15 if node == FIRST + 3 => {
            let (from, len) = (long(body, 8) as usize, word(body, 16) as usize);
            let all = pattern();
            answer(&all[from.min(all.len())..(from + len).min(all.len())]);
        }
        15 => match state.messages.pop() {
            Some(message) => answer(message.as_bytes()),
            None => state.waiting.push(unique),
        },
        16 => {
            let len = word(body, 16);
            state.written.extend(&body[40..][..len as usize]);
            answer(&[len, 0].into_iter().flat_map(u32::to_ne_bytes).collect::<Vec<_>>());
        }
        // Flushes and releases.
        18 | 25 | 29 => answer(&[]),
        _ => reply(device, unique, -38, &[]),
    }
}

/// In a namespace of mounts of its own, which ends with the process.
fn with_served(function: &str, body: impl FnOnce(&Path, Served)) {
    let line = "unshare --mount true 2>/dev/null && exec unshare --mount \"$0\" \"$@\"";
    child::run_after(line, module_path!(), function, || {
        let scratch = Scratch::new();
        let at = scratch.join("served");
        std::fs::create_dir(&at).unwrap();
        match Served::mount(&at) {
            Some(served) => body(&at, served),
            None => println!("skipped: no FUSE for tests here"),
        }
    });
}

/// Shows G13.
#[test]
fn a_read_returns_one_answer() {
    with_served("a_read_returns_one_answer", |at, served| {
        for lazy in [true, false] {
            let runtime = runtime_that_is(lazy, 1);
            let (at, served) = (at.to_owned(), &served);
            for (name, ..) in &FILES[..3] {
                let path = at.join(name);
                let mut buf = vec![0; 1 << 16];
                let run = async {
                    let mut file =
                        File::options().read(true).write(true).open(&path).await.unwrap();
                    for message in ["one", "two of them"] {
                        served.send(message);
                        let n = timeout(LONG, file.read(&mut buf)).await.expect(name).unwrap();
                        assert_eq!(&buf[..n], message.as_bytes(), "{name}");
                        served.send(message);
                        let read = AsyncReadExt::read(&mut file, &mut buf);
                        let n = timeout(LONG, read).await.expect(name).unwrap();
                        assert_eq!(&buf[..n], message.as_bytes(), "{name}");
                    }
                    file.write_all(b"written").await.unwrap();
                    file
                };
                let mut file = runtime.block_on(run);
                assert_eq!(served.state.lock().unwrap().written, b"written", "{name}");
                served.state.lock().unwrap().written.clear();
                let std = std::fs::File::options().read(true).write(true).open(&path).unwrap();
                let wanted = std.write_at(b"at", 5).map_err(|error| error.kind());
                let found = runtime.block_on(async { file.write_at(b"at", 5).await });
                assert_eq!(found.map_err(|error| error.kind()), wanted, "{name}");
                let sought = runtime.block_on(async { file.seek(SeekFrom::Start(3)).await });
                match *name {
                    "stream" => assert_eq!(sought.unwrap_err().kind(), ErrorKind::NotSeekable),
                    _ => assert_eq!(sought.unwrap(), 3),
                }
                served.state.lock().unwrap().written.clear();
            }
            let plain = at.join("plain");
            let read = runtime.block_on(async { colored::fs::read(plain).await.unwrap() });
            assert!(read == pattern());
        }
    });
}

/// Shows G13.
#[test]
fn reads_that_wait_stop_no_other_file_and_no_end() {
    with_served("reads_that_wait_stop_no_other_file_and_no_end", |at, served| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let (path, plain) = (at.join("long"), at.join("plain"));
        let scratch = Scratch::new();
        let other = scratch.file("other", "bytes");
        runtime.block_on(async {
            for _ in 0..MANY {
                let path = path.clone();
                drop(spawn_unique(async move {
                    let mut file = File::open(path).await.unwrap();
                    let _woken = file.read(&mut [0; 10]).await;
                }));
            }
            while served.waiting() < 64 {
                sleep(Duration::from_millis(1)).await;
            }
            let others = async {
                // Its path, its metadata, and a file on a disk.
                let plain = File::options().write(true).open(&plain).await.unwrap();
                assert_eq!(plain.metadata().await.unwrap().len(), 10_000);
                assert_eq!(plain.write_at(b"x", 0).await.unwrap(), 1);
                colored::fs::write(&other, "others").await.unwrap();
                assert_eq!(colored::fs::read(&other).await.unwrap(), b"others");
            };
            timeout(LONG, others).await.expect("reads wait apart");
        });
        let begin = Instant::now();
        drop(runtime);
        assert!(begin.elapsed() < LONG);
        assert!(served.waiting() >= 64, "nobody has answered");
    });
}
