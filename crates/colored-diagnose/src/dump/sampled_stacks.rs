//! [`SampledStacks`]: the functions that workers are in, for the report of an observation.

use super::functions::FunctionOf;
use super::native::{Stacks, frames_at};
use crate::subject::Subject;
use crate::thread_time::ThreadTime;
use crate::usage::FunctionUsage;
use crate::wall;
use colored_core::{Color, InPlace};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

/// The most stacks that are kept: 2 MiB, with 64 addresses each.
const MOST: usize = 4096;

/// A look takes no longer, but for the last thread that it asks: with many workers, the next look goes on with the others.
const LONGEST: Duration = Duration::from_millis(1);

/// A thread that has waited longer for a CPU before it answered did not run.
const WAITED: Duration = Duration::from_micros(100);

/// So many stacks of threads that had a CPU are enough: of a half they are wrong by 0.07 as a rule.
const ENOUGH: usize = 50;

/// The stacks of workers inside a poll or a callback, as addresses. Nothing, unless the program has asked for stacks.
#[derive(Default)]
pub(crate) struct SampledStacks {
    stacks: Stacks,
    samples: Vec<Sample>,
    looks: u32,
    /// So many times two looks are made for each one that counts: a long observation is sampled more rarely.
    halvings: u32,
    /// The worker with which the next look begins.
    next: usize,
    /// The workers that have not answered in the present part.
    silent: Vec<usize>,
}

struct Sample {
    /// None if it changed meanwhile.
    color: Option<Color>,
    /// Whether the thread had no CPU when it was asked.
    has_waited: bool,
    addresses: Box<[u64]>,
}

impl SampledStacks {
    /// Looks at the workers that are in a poll, as long as there is time: each copies its stack, some 25 µs, and this
    /// thread takes some 50 µs for it.
    pub(crate) fn look(&mut self, subject: &dyn Subject) {
        self.looks = self.looks.wrapping_add(1);
        if !Stacks::is_installed() || !self.looks.is_multiple_of(1 << self.halvings) {
            return;
        }
        let (begin, scheduler) = (wall::now(), subject.scheduler());
        let workers = scheduler.workers() + scheduler.spares();
        for _ in 0..workers {
            let worker = self.next % workers;
            self.next = worker + 1;
            self.look_at(worker, subject);
            if wall::since(begin) >= LONGEST {
                break;
            }
        }
    }

    /// Workers that did not answer are asked again.
    pub(crate) fn end_part(&mut self) {
        self.silent.clear();
    }

    fn look_at(&mut self, worker: usize, subject: &dyn Subject) {
        // A call that has announced that it blocks may be one that a signal ends.
        let color = || {
            let slice = subject.scheduler().running(worker)?;
            (slice.in_place != InPlace::Inside).then_some(slice.color)
        };
        let threads = &subject.diagnosis().threads;
        let thread = threads.number_of(worker).filter(|_| !self.silent.contains(&worker));
        let Some((before, thread)) = color().zip(thread) else { return };
        let earlier = threads.time_of(worker);
        let addresses = match self.stacks.sample(thread) {
            None => return,
            Some(Err(_)) => return self.silent.push(worker),
            Some(Ok(addresses)) => addresses.into(),
        };
        let waited = |earlier: ThreadTime| {
            let later = threads.time_of(worker).filter(|_| earlier.is_runnable);
            later.is_some_and(|later| later.since(earlier).delayed >= WAITED)
        };
        let has_waited = earlier.is_some_and(waited);
        // If the slice is over, the thread may have been outside of any.
        if let Some(after) = color() {
            let color = (after == before).then_some(before);
            self.keep(Sample { color, has_waited, addresses });
        }
    }

    fn keep(&mut self, sample: Sample) {
        if self.samples.len() == MOST {
            let mut number = 0;
            self.samples.retain(|_| {
                number += 1;
                number % 2 == 0
            });
            self.halvings = (self.halvings + 1).min(31);
        }
        self.samples.push(sample);
    }

    /// A thread without a CPU is where it lost the last one: after a system call, as a rule. It counts if there are few others.
    fn best(&self) -> Vec<&Sample> {
        let running = self.samples.iter().filter(|sample| !sample.has_waited);
        if running.clone().count() >= ENOUGH {
            running.collect()
        } else {
            self.samples.iter().collect()
        }
    }

    /// The functions, the most frequent first. Reads the symbols of the program: that may take a second for a large one.
    pub(crate) fn functions(&self) -> Vec<FunctionUsage> {
        let samples = self.best();
        let addresses = samples.iter().flat_map(|sample| sample.addresses.iter().copied());
        let frames = frames_at(addresses);
        let mut all: HashMap<(Option<Color>, FunctionOf), u64> = HashMap::new();
        for sample in samples {
            let frames = sample.addresses.iter().flat_map(|address| &frames[address]);
            *all.entry((sample.color, FunctionOf::stack(frames))).or_default() += 1;
        }
        let usage = |((color, of), looks): ((Option<Color>, FunctionOf), u64)| {
            let FunctionOf { crate_name, function, caller } = of;
            FunctionUsage { color, crate_name, function, caller, looks }
        };
        let mut all: Vec<_> = all.into_iter().map(usage).collect();
        all.sort_by(|one, other| {
            let [one, other] =
                [one, other].map(|of| (Reverse(of.looks), of.color, &of.function, &of.caller));
            one.cmp(&other)
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::{ENOUGH, MOST, Sample, SampledStacks};

    fn sample(has_waited: bool, address: u64) -> Sample {
        Sample { color: None, has_waited, addresses: [address].into() }
    }

    /// A long observation keeps samples of its whole length.
    #[test]
    fn the_memory_is_bounded_and_all_times_count_alike() {
        let mut all = SampledStacks::default();
        let mut kept = 0_u64;
        for look in 0..10 * MOST as u64 {
            if look.is_multiple_of(1 << all.halvings) {
                all.keep(sample(false, look));
                kept += 1;
            }
            assert!(all.samples.len() <= MOST);
        }
        assert!(all.samples.len() >= MOST / 2 && kept > MOST as u64, "{kept}");
        let of_first_half = |sample: &&Sample| sample.addresses[0] < 5 * MOST as u64;
        let first = all.samples.iter().filter(of_first_half).count();
        assert!(first.abs_diff(all.samples.len() - first) <= 8, "{first} of {}", all.samples.len());
    }

    #[test]
    fn threads_without_a_cpu_count_if_there_are_few_others() {
        let mut all = SampledStacks::default();
        (0..200).for_each(|address| all.keep(sample(true, address)));
        (1..ENOUGH as u64).for_each(|address| all.keep(sample(false, address)));
        assert_eq!(all.best().len(), 200 + ENOUGH - 1);
        all.keep(sample(false, 0));
        assert_eq!(all.best().len(), ENOUGH);
        assert!(all.best().iter().all(|sample| !sample.has_waited));
    }
}
