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
        let id = self.0.as_raw_nonzero();
        parse(&fs::read_to_string(format!("/proc/self/task/{id}/schedstat")).ok()?)
    }
}

/// Three numbers: nanoseconds with a CPU, nanoseconds in line for one, and how often it got one. A kernel that does not
/// count writes zeros.
fn parse(text: &str) -> Option<ThreadTime> {
    let mut numbers = text.split_ascii_whitespace().map(str::parse);
    let mut next = || numbers.next()?.ok();
    let (cpu, delayed, times): (u64, u64, u64) = (next()?, next()?, next()?);
    (times > 0).then(|| ThreadTime {
        cpu: Duration::from_nanos(cpu),
        delayed: Duration::from_nanos(delayed),
    })
}

#[cfg(test)]
mod tests {
    use super::super::ThreadClock;
    use super::parse;
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn the_three_numbers_are_read() {
        let time = parse("12 34 5\n").unwrap();
        assert_eq!((time.cpu, time.delayed), (Duration::from_nanos(12), Duration::from_nanos(34)));
        assert_eq!(parse("0 0 0\n"), None);
        assert_eq!(parse("12 34"), None);
        assert_eq!(parse(""), None);
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
        thread::sleep(Duration::from_millis(100));
        let asleep = clock.read().unwrap().since(first);
        assert!(asleep.cpu < Duration::from_millis(50), "{asleep:?}");
        release.send(()).unwrap();
        computing.join().unwrap();
        assert_eq!(clock.read(), None);
    }
}
