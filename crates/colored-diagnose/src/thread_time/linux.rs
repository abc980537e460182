//! Linux: the scheduler's figures of a thread, which any thread of the process may read.

use super::ThreadTime;
use rustix::thread::{Pid, gettid};
use std::fs;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Thread(Pid);

impl Thread {
    pub(super) fn current() -> Self {
        Self(gettid())
    }

    pub(super) fn time(&self) -> Option<ThreadTime> {
        let of = |file| {
            fs::read_to_string(format!("/proc/self/task/{}/{file}", self.0.as_raw_nonzero())).ok()
        };
        let (cpu, delayed) = times(&of("schedstat")?)?;
        Some(ThreadTime { cpu, delayed, is_runnable: is_runnable(&of("stat")?) })
    }
}

/// Three numbers: nanoseconds with a CPU, nanoseconds in line for one, and how often it got one. A kernel that does not
/// count writes zeros.
fn times(text: &str) -> Option<(Duration, Duration)> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    let mut next = || numbers.next()?.ok();
    let (cpu, delayed, times): (u64, u64, u64) = (next()?, next()?, next()?);
    (times > 0).then(|| (Duration::from_nanos(cpu), Duration::from_nanos(delayed)))
}

/// A number, the name in parentheses, which may hold any letter, and the state.
fn is_runnable(text: &str) -> bool {
    text.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('R'))
}

#[cfg(test)]
mod tests {
    use super::super::ThreadClock;
    use super::{is_runnable, times};
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn the_figures_are_read() {
        assert_eq!(times("12 34 5\n"), Some([12, 34].map(Duration::from_nanos).into()));
        assert_eq!(["0 0 0\n", "12 34", ""].map(times), [None; 3]);
        assert!(is_runnable("7 (w) R) R 1 2") && is_runnable("7 (a b) R 1"));
        assert!(!is_runnable("7 (R) S 1 2") && !is_runnable("7 (R") && !is_runnable(""));
    }

    /// Another thread sees how long a thread has computed, that it sleeps, and that it has ended.
    #[test]
    #[cfg_attr(miri, ignore = "there is no /proc")]
    fn the_time_of_another_thread_is_read() {
        let (hand_over, clocks) = mpsc::channel();
        let (release, gate) = mpsc::channel::<()>();
        let computing = thread::spawn(move || {
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_millis(60) {}
            hand_over.send(ThreadClock::of_this_thread()).unwrap();
            let _ = gate.recv();
        });
        let clock = clocks.recv().unwrap();
        let Some(first) = clock.read() else { return }; // A kernel that does not count.
        // On a busy machine most of it may have been a wait for a CPU.
        assert!(first.cpu + first.delayed >= Duration::from_millis(40), "{first:?}");
        // It is about to wait at the gate.
        while clock.read().unwrap().is_runnable {
            thread::yield_now();
        }
        thread::sleep(Duration::from_millis(100));
        let asleep = clock.read().unwrap().since(first);
        assert!(asleep.cpu < Duration::from_millis(50), "{asleep:?}");
        release.send(()).unwrap();
        computing.join().unwrap();
        // The system forgets a thread a little after its end.
        while clock.read().is_some() {}
    }
}
