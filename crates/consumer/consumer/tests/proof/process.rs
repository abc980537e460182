//! The processes of the proof, and what they leave behind. The engines of other workspaces use it, too.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A new directory, which is removed at the end, and the effects that were read from it.
pub(crate) struct Scratch(pub(crate) PathBuf, RefCell<Lines>);

/// The whole lines of the file of effects as far as it was read: a million of them are not to be read again and again.
#[derive(Default)]
struct Lines {
    bytes: u64,
    lines: Vec<Arc<str>>,
}

impl Scratch {
    pub(crate) fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Ordering: the numbers are different, whatever their order.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("colored-consumer-proof-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("effects"), "").unwrap();
        Scratch(path, RefCell::default())
    }

    /// The whole lines of the file of effects.
    pub(crate) fn effects(&self) -> Vec<Arc<str>> {
        self.count();
        self.1.borrow().lines.clone()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        let mut read = self.1.borrow_mut();
        let (mut file, mut text) = (File::open(self.0.join("effects")).unwrap(), String::new());
        file.seek(SeekFrom::Start(read.bytes)).unwrap();
        file.read_to_string(&mut text).unwrap();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        read.bytes += whole as u64;
        read.lines.extend(text[..whole].lines().map(Arc::from));
        read.lines.len()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Keys that are drawn by Zipf's law, numbered by key.
pub(crate) fn draw(count: u64, keys: usize) -> Vec<(String, u64)> {
    let mut chance = fastrand::Rng::with_seed(7);
    let mut sums = Vec::new();
    for rank in 1..=keys {
        sums.push(sums.last().unwrap_or(&0.0) + 1.0 / rank as f64);
    }
    let mut next = vec![0; keys];
    let mut draw = |_| {
        let at = chance.f64() * sums[keys - 1];
        let key = sums.partition_point(|sum| *sum < at).min(keys - 1);
        next[key] += 1;
        (format!("k{key}"), next[key] - 1)
    };
    (0..count).map(&mut draw).collect()
}

/// A process with members. It is killed when this is dropped.
pub(crate) struct Member {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Member {
    /// Starts a program with these arguments, which have no spaces, and waits until it is ready.
    pub(crate) fn start(program: &Path, scratch: &Scratch, arguments: &str) -> Member {
        let mut child = Command::new(program)
            .arg("--effects")
            .arg(scratch.0.join("effects"))
            .args(arguments.split_whitespace())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Member { child, output }
    }

    /// The process, as it is named in its effects.
    pub(crate) fn name(&self) -> String {
        self.child.id().to_string()
    }

    /// Waits for so many more effects, or so long.
    pub(crate) fn wait_for_effects(&mut self, scratch: &Scratch, count: u64, most: Duration) {
        let (end, before) = (Instant::now() + most, scratch.count() as u64);
        while Instant::now() < end && (scratch.count() as u64) < before + count {
            assert!(self.child.try_wait().unwrap().is_none(), "the process has ended");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until each of these has an effect. For two minutes at most nothing may come.
    pub(crate) fn wait_for_all(&mut self, scratch: &Scratch, wanted: &[(String, u64)]) {
        let mut missing: HashSet<_> = wanted.iter().cloned().collect();
        let (mut read, mut last) = (0, Instant::now());
        loop {
            let effects = scratch.effects();
            for line in &effects[read..] {
                let mut words = line.split(' ');
                let key = words.next().unwrap().to_owned();
                if missing.remove(&(key, words.next().unwrap().parse().unwrap())) {
                    last = Instant::now();
                }
            }
            read = effects.len();
            if missing.is_empty() {
                return;
            }
            assert!(
                last.elapsed() < Duration::from_secs(120),
                "{} records have no effect: {:?}",
                missing.len(),
                missing.iter().next()
            );
            assert!(self.child.try_wait().unwrap().is_none(), "the process has ended");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Stops the process for longer than its sessions last, then lets it go on.
    pub(crate) fn sleep_past_the_session(&mut self, time: Duration) {
        self.signal("STOP");
        std::thread::sleep(time);
        self.signal("CONT");
    }

    /// Kills the process; returns the most memory that it had.
    pub(crate) fn kill(&mut self) -> u64 {
        let peak = self.peak();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        peak
    }

    /// Asks the process to end, which it does well; returns the most memory that it had.
    pub(crate) fn leave(&mut self) -> u64 {
        let peak = self.peak();
        self.signal("TERM");
        let status = self.child.wait().unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert!(status.success() && line == "left\n", "{status}, {line:?}");
        peak
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// The most memory that the process had; 0 where the system does not tell.
    fn peak(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        kilobytes.unwrap_or(0_u64) * 1024
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
