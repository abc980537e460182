//! The measure of the rows: the CPU time of all threads of the process, so that other programs on the machine change little.

use rustix::time::{ClockId, clock_gettime};

/// The CPU seconds that `f` takes.
pub fn seconds(f: impl FnOnce()) -> f64 {
    let begin = now();
    f();
    now() - begin
}

fn now() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// The median of some numbers.
///
/// # Panics
///
/// If there are none.
#[must_use]
pub fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

/// So many measurements of each of some programs, alternated. Returns the medians in CPU seconds.
pub fn alternate<const N: usize>(rounds: usize, mut programs: [&mut dyn FnMut(); N]) -> [f64; N] {
    let mut all: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..rounds {
        for (seconds_of, program) in all.iter_mut().zip(&mut programs) {
            seconds_of.push(seconds(program));
        }
    }
    all.map(median)
}
