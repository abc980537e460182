//! [`Slow`]: what the thread of a slow slice did.

use crate::thread_time::ThreadTime;
use std::time::Duration;

/// A slow slice: how long its thread had a CPU, or waited for one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slow {
    /// The number of the slice.
    pub(super) serial: u64,
    /// The age of the slice, in nanoseconds, at the first look and at the last one.
    first: u64,
    last: u64,
    /// The time of the thread at the last look.
    time: ThreadTime,
    /// Since the first look: with a CPU, and without one though the thread could have run.
    cpu: Duration,
    delayed: Duration,
}

impl Slow {
    /// The first look.
    pub(super) fn new(serial: u64, age: u64, time: ThreadTime) -> Self {
        let (cpu, delayed) = (Duration::ZERO, Duration::ZERO);
        Self { serial, first: age, last: age, time, cpu, delayed }
    }

    /// The next look. The system counts a wait for a CPU when it is over: so what it has not counted is such a wait if
    /// the thread can run now, and otherwise the thread was blocked.
    pub(super) fn look(&mut self, age: u64, now: ThreadTime) {
        let passed = Duration::from_nanos(age.saturating_sub(self.last));
        let counted = now.since(self.time);
        let cpu = counted.cpu.min(passed);
        let rest = passed - cpu;
        self.cpu += cpu;
        self.delayed += if now.is_runnable { rest } else { counted.delayed.min(rest) };
        (self.last, self.time) = (age, now);
    }

    /// The times of the whole slice, as if what was not seen were like what was seen; none if that is less than half.
    pub(super) fn times(&self) -> Option<(Duration, Duration)> {
        let seen = self.last.checked_sub(self.first).filter(|seen| 2 * seen >= self.last)?;
        let factor = self.last as f64 / seen as f64;
        Some((self.cpu.mul_f64(factor), self.delayed.mul_f64(factor)))
    }
}

#[cfg(test)]
mod tests {
    use super::Slow;
    use crate::thread_time::ThreadTime;
    use std::time::Duration;

    const MS: u64 = 1_000_000;

    fn time(cpu: u64, delayed: u64, is_runnable: bool) -> ThreadTime {
        let of = Duration::from_millis;
        ThreadTime { cpu: of(cpu), delayed: of(delayed), is_runnable }
    }

    /// The times of a slice of 20 ms in milliseconds, which was seen at 2, 10 and 20 ms.
    fn times(looks: [ThreadTime; 3]) -> (u64, u64) {
        let mut slow = Slow::new(1, 2 * MS, looks[0]);
        slow.look(10 * MS, looks[1]);
        slow.look(20 * MS, looks[2]);
        let (cpu, delayed) = slow.times().unwrap();
        ((cpu.as_micros() as u64 + 500) / 1000, (delayed.as_micros() as u64 + 500) / 1000)
    }

    #[test]
    fn a_thread_computes_or_waits_for_a_cpu_or_is_blocked() {
        assert_eq!(times([time(5, 0, true), time(13, 0, true), time(23, 0, true)]), (20, 0));
        assert_eq!(times([time(5, 0, false), time(5, 0, false), time(5, 0, false)]), (0, 0));
        assert_eq!(times([time(5, 0, true), time(9, 4, true), time(14, 9, true)]), (10, 10));
        // The wait has not ended, and is not counted yet.
        assert_eq!(times([time(5, 0, true), time(5, 0, true), time(5, 0, true)]), (0, 20));
        // Part of it is over when it is blocked.
        assert_eq!(times([time(5, 0, true), time(5, 9, false), time(5, 9, false)]), (0, 9));
        // The system counts by ticks.
        assert_eq!(times([time(5, 0, true), time(15, 0, true), time(25, 0, true)]), (20, 0));
    }

    #[test]
    fn a_slice_that_was_seen_late_is_of_an_unknown_kind() {
        let now = time(5, 0, false);
        let mut slow = Slow::new(1, 11 * MS, now);
        assert_eq!(slow.times(), None);
        slow.look(20 * MS, now);
        assert_eq!(slow.times(), None);
        slow.look(22 * MS, now);
        assert_eq!(slow.times(), Some((Duration::ZERO, Duration::ZERO)));
    }
}
