//! The processes of the proof, and what they leave behind.

use colored_consumer::TopicPartition;
use colored_consumer::embedded::{Engine, NewRecord, Options};
use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A new directory, which is removed at the end.
pub(crate) struct Scratch(PathBuf);

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
        Scratch(path)
    }

    fn engine(&self) -> PathBuf {
        self.0.join("engine")
    }

    /// The whole lines of the file of effects.
    pub(crate) fn effects(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.join("effects")).unwrap();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        text[..whole].lines().map(str::to_owned).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs in a process that has the engine open.
fn with_engine<T: Send + 'static>(
    directory: &Path,
    run: impl AsyncFnOnce(Engine) -> T + 'static,
) -> T {
    let (runtime, directory) = (colored::Runtime::new().unwrap(), directory.to_owned());
    runtime.block_on(async move {
        let engine = Options::new().sync(false).open(directory).await.unwrap();
        run(engine).await
    })
}

/// Sends records whose keys are drawn by Zipf's law, numbered by key; returns all of them.
pub(crate) fn send(
    scratch: &Scratch,
    count: u64,
    keys: usize,
    partitions: u32,
) -> Vec<(String, u64)> {
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
    let sent: Vec<(String, u64)> = (0..count).map(&mut draw).collect();
    let records: Vec<_> = sent
        .iter()
        .map(|(key, number): &(String, u64)| NewRecord::new(key.clone(), number.to_string()))
        .collect();
    with_engine(&scratch.engine(), async move |engine| {
        engine.create_topic("t", partitions).await.unwrap();
        engine.send_all("t", records).await.unwrap();
    });
    sent
}

/// The committed offset of each partition.
pub(crate) fn committed(scratch: &Scratch, partitions: u32) -> Vec<u64> {
    with_engine(&scratch.engine(), async move |engine| {
        let mut committed = Vec::new();
        for partition in 0..partitions {
            let of = TopicPartition { topic: "t".into(), partition };
            let found = engine.committed("g", &of).await;
            committed.push(found.map_or(0, |found| found.offset));
        }
        committed
    })
}

/// A process with members. It is killed when this is dropped.
pub(crate) struct Member {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Member {
    pub(crate) fn start(scratch: &Scratch, options: &str) -> Member {
        let mut program = std::env::current_exe().unwrap();
        program.pop();
        program.set_file_name("examples");
        program.push("consumer-member");
        assert!(program.exists(), "`cargo test -p colored-rt-consumer` builds {program:?}");
        let mut child = Command::new(program)
            .args(["--engine", "embedded", "--topic", "t", "--group", "g", "--url"])
            .arg(scratch.engine())
            .arg("--effects")
            .arg(scratch.0.join("effects"))
            .args(options.split(' '))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Member { child, output }
    }

    /// Waits for so many more effects, or so long.
    pub(crate) fn wait_for_effects(&mut self, scratch: &Scratch, count: u64, most: Duration) {
        let (end, before) = (Instant::now() + most, scratch.effects().len() as u64);
        while Instant::now() < end && (scratch.effects().len() as u64) < before + count {
            assert!(self.child.try_wait().unwrap().is_none(), "the process has ended");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until each of these has an effect.
    pub(crate) fn wait_for_all(&mut self, scratch: &Scratch, wanted: &[(String, u64)]) {
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            let effects = scratch.effects();
            let mut missing: HashSet<_> = wanted.iter().cloned().collect();
            for line in effects {
                let mut words = line.split(' ');
                let key = words.next().unwrap().to_owned();
                missing.remove(&(key, words.next().unwrap().parse().unwrap()));
            }
            if missing.is_empty() {
                return;
            }
            assert!(
                Instant::now() < end,
                "{} records have no effect: {:?}",
                missing.len(),
                missing.iter().next()
            );
            assert!(self.child.try_wait().unwrap().is_none(), "the process has ended");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until no effect comes for a while.
    pub(crate) fn wait_until_quiet(&mut self, scratch: &Scratch) {
        let (mut before, mut since) = (usize::MAX, Instant::now());
        while since.elapsed() < Duration::from_secs(1) {
            let now = scratch.effects().len();
            if now != before {
                (before, since) = (now, Instant::now());
            }
            std::thread::sleep(Duration::from_millis(20));
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
