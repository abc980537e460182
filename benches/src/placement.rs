//! Which cores a client and a server use.
//!
//! The kernel places a client and a server that take turns on one core or on two, by chance. Two
//! cores are fifteen times as slow, because waking an idle core takes longer than all else. So the
//! round-trip rows choose the cores, and the load generator stays on its core.

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
use std::fs;
use std::io;

/// The cores of the calling thread, and of every other thread of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// All on the process's first core.
    Together,
    /// The caller on the first core, the others on the rest. On a machine of one core, the
    /// same as together.
    Apart,
}

/// A placement of threads. Dropping it lets them run on all cores again.
#[derive(Debug)]
pub struct Placed {
    everywhere: CpuSet,
}

impl Placement {
    /// Places all threads of the process. Threads started later are placed as their parents are.
    ///
    /// # Errors
    ///
    /// If the system does not list this process's threads.
    pub fn hold(self) -> io::Result<Placed> {
        let everywhere = sched_getaffinity(None)?;
        let mut here = CpuSet::new();
        let mut elsewhere = everywhere;
        if let Some(first) = (0..CpuSet::MAX_CPU).find(|&cpu| everywhere.is_set(cpu)) {
            here.set(first);
            elsewhere.unset(first);
        }
        let others =
            if self == Placement::Together || elsewhere.count() == 0 { here } else { elsewhere };
        let placed = Placed { everywhere };
        place_all(&others)?;
        sched_setaffinity(None, &here)?;
        Ok(placed)
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        // If this fails, the next rows are slower for all rivals alike; nothing else can be done.
        let _ = place_all(&self.everywhere);
    }
}

fn place_all(cores: &CpuSet) -> io::Result<()> {
    for thread in fs::read_dir("/proc/self/task")? {
        let name = thread?.file_name();
        let thread = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw);
        // A thread may end between being listed and being placed.
        if let Err(error) = sched_setaffinity(thread, cores)
            && error != rustix::io::Errno::SRCH
        {
            return Err(error.into());
        }
    }
    Ok(())
}

/// Runs `start` on the last `count` cores of the calling thread. Threads and processes that it starts stay there.
///
/// # Errors
///
/// If the system refuses, or `start` fails.
pub fn on_last_cores<T>(count: usize, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let everywhere = sched_getaffinity(None)?;
    let cores = (0..CpuSet::MAX_CPU).rev().filter(|&cpu| everywhere.is_set(cpu));
    let mut last = CpuSet::new();
    cores.take(count).for_each(|cpu| last.set(cpu));
    sched_setaffinity(None, &last)?;
    let started = start();
    sched_setaffinity(None, &everywhere)?;
    started
}

/// Keeps the calling thread on one core, counted from the first that it may use.
///
/// # Panics
///
/// If the system refuses.
pub fn stay_on(core: usize) {
    let allowed = sched_getaffinity(None).expect("the system tells the cores");
    let mut cores = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu));
    let mut own = CpuSet::new();
    own.set(cores.nth(core % allowed.count() as usize).expect("there are as many"));
    sched_setaffinity(None, &own).expect("a thread may be placed on its own cores");
}
