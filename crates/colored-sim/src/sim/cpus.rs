//! Where the threads of a run begin: on the CPU of the thread that starts them.
//!
//! One of them goes on at a time. The system likes to start a thread on another CPU, and wakes it there from then on; on a
//! busy machine that CPU may have something else to do for milliseconds. So a thread is bound while it starts another one,
//! which begins on the same CPU and gets all CPUs back before the program runs: the program can see nothing of this. With two
//! busy CPUs, 4,100 runs of 200 turns a second in place of 1,600.

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

/// The CPUs of a thread that has more than one.
#[derive(Clone, Copy)]
pub(super) struct Cpus(CpuSet);

/// A thread is bound until this is dropped.
pub(super) struct Bound(Cpus);

impl Cpus {
    /// Those of this thread. None if they are fewer than two.
    pub(super) fn of_this_thread() -> Option<Self> {
        let all = sched_getaffinity(None).ok()?;
        (all.count() > 1).then_some(Self(all))
    }

    /// Binds this thread to the CPU that it is on, and the threads that it starts meanwhile. A refusal of the system leaves
    /// all as it was.
    pub(super) fn bind_this(self) -> Bound {
        let (cpu, mut only) = (sched_getcpu(), CpuSet::new());
        if cpu < CpuSet::MAX_CPU {
            only.set(cpu);
            let _ = sched_setaffinity(None, &only);
        }
        Bound(self)
    }

    /// Gives this thread all CPUs back.
    pub(super) fn release_this(self) {
        let _ = sched_setaffinity(None, &self.0);
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        self.0.release_this();
    }
}

#[cfg(test)]
mod tests {
    use super::Cpus;
    use rustix::thread::sched_getaffinity;
    use std::thread;

    #[test]
    fn a_thread_is_bound_while_it_starts_another_one() {
        let Some(cpus) = Cpus::of_this_thread() else { return };
        let bound = cpus.bind_this();
        assert!(Cpus::of_this_thread().is_none(), "it has one");
        let started = thread::spawn(move || {
            let count = sched_getaffinity(None).unwrap().count();
            cpus.release_this();
            (count, sched_getaffinity(None).unwrap())
        });
        assert!(started.join().unwrap() == (1, cpus.0));
        drop(bound);
        assert!(sched_getaffinity(None).unwrap() == cpus.0);
    }
}
