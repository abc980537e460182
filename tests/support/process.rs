//! The system's figures of this process.

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;

/// One thread, as the system counts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its name, which the system cuts to 15 bytes.
    pub name: String,
    /// Nanoseconds on a CPU, nanoseconds of waiting for a CPU, and the number of times that it got
    /// one.
    pub ran: String,
    /// Its context switches, voluntary and involuntary.
    pub switches: Vec<String>,
}

/// All threads of this process, by number.
pub fn threads() -> BTreeMap<u32, Thread> {
    let tasks = fs::read_dir("/proc/self/task").expect("/proc is mounted");
    let numbers = tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok());
    // A thread may end while this looks.
    numbers.filter_map(|number| Some((number, thread(number)?))).collect()
}

fn thread(number: u32) -> Option<Thread> {
    let read = |file: &str| fs::read_to_string(format!("/proc/self/task/{number}/{file}")).ok();
    let status = read("status")?;
    let switches = status.lines().filter(|line| line.contains("ctxt_switches"));
    Some(Thread {
        name: read("comm")?.trim().to_owned(),
        ran: read("schedstat")?.trim().to_owned(),
        switches: switches.map(str::to_owned).collect(),
    })
}

/// The number of the calling thread.
pub fn this_thread() -> u32 {
    let path = fs::read_link("/proc/thread-self").expect("/proc is mounted");
    path.file_name().and_then(|name| name.to_str()?.parse().ok()).expect("it ends with a number")
}

/// Whether files of pipes and sockets are tried, and wait for the reactor: on Linux 6.4 or later, unless a variable forbids
/// it. Otherwise their operations run on threads.
pub fn tries_streams() -> bool {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("/proc is mounted");
    let mut numbers = release.split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let is_off = std::env::var("COLORED_LAZY_FILES").is_ok_and(|value| value == "0");
    version >= (6, 4) && !is_off
}

/// Bytes of memory that this process occupies.
pub fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("VmRSS");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number of KiB");
    kib * 1024
}

/// The CPU time of this process. Keeps its file open, for when there are no more descriptors.
pub struct CpuTime(File);

impl CpuTime {
    /// Opens the file.
    pub fn open() -> Self {
        Self(File::open("/proc/self/stat").expect("/proc is mounted"))
    }

    /// User and system time so far, in steps of 10 ms.
    pub fn read(&mut self) -> Duration {
        let mut text = String::new();
        self.0.seek(SeekFrom::Start(0)).expect("it can be read again");
        self.0.read_to_string(&mut text).expect("it can be read again");
        // After the name, which may contain anything, come the state and ten other fields.
        let (_, fields) = text.rsplit_once(')').expect("the name is in parentheses");
        let times = fields.split_whitespace().skip(11).take(2);
        let ticks: u64 = times.map(|ticks| ticks.parse::<u64>().expect("a number")).sum();
        Duration::from_millis(ticks * 10)
    }
}
