//! Whether other processes take the CPUs that a measurement would need. Linux says so; elsewhere nobody is disturbed.

use std::fs;

/// CPU time, in ticks of the system.
#[derive(Clone, Copy)]
struct Times {
    /// The CPUs ran something for so long, or their host ran something else.
    busy: u64,
    /// The CPUs had nothing to do for so long.
    idle: u64,
    /// The CPUs ran this process for so long.
    own: u64,
    /// The number of CPUs.
    cpus: u64,
}

/// Does something. Also returns whether other processes have had a tenth of a CPU or more meanwhile, while less than half a
/// CPU was idle.
pub(super) fn beside<R>(act: impl FnOnce() -> R) -> (R, bool) {
    let before = times();
    let result = act();
    let is_disturbed = before.zip(times()).is_some_and(|(before, after)| {
        let busy = after.busy.saturating_sub(before.busy);
        let idle = after.idle.saturating_sub(before.idle);
        let others = busy.saturating_sub(after.own.saturating_sub(before.own));
        let of_one = (busy + idle) / after.cpus;
        // The system rounds each of the times to a tick.
        others > of_one / 10 + 3 && idle < of_one / 2
    });
    (result, is_disturbed)
}

fn times() -> Option<Times> {
    let all = fs::read_to_string("/proc/stat").ok()?;
    let own = fs::read_to_string("/proc/self/stat").ok()?;
    parse(&all, &own)
}

/// The manual page proc(5) describes both texts. The first text begins with the times of all CPUs. The second text has the
/// process's own times in its fields 14 and 15; its second field, the name, may contain anything, and ends with the last
/// bracket.
fn parse(all: &str, own: &str) -> Option<Times> {
    let mut lines = all.lines();
    let all = lines.next()?.strip_prefix("cpu ")?;
    let cpus = lines.take_while(|line| line.starts_with("cpu")).count() as u64;
    let all: Vec<u64> = all.split_whitespace().map_while(|time| time.parse().ok()).collect();
    let [user, nice, system, idle, waits, irq, softirq, stolen] = *all.first_chunk()?;
    let mut own = own.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut time = || own.next()?.parse::<u64>().ok();
    let own = time()? + time()?;
    let busy = user + nice + system + irq + softirq + stolen;
    (cpus > 0).then_some(Times { busy, idle: idle + waits, own, cpus })
}

#[test]
fn the_times_are_found_in_the_texts() {
    let own = "7 (a) b) S 1 7 7 0 -1 4194560 1 0 0 0 30 12 0 0 20 0 1 0 5 0 0";
    let times = parse("cpu  1 2 4 100 50 8 16 32 9 9\ncpu0 1 2\n", own).unwrap();
    assert_eq!((times.busy, times.idle, times.own, times.cpus), (63, 150, 42, 1));
    assert!(parse("intr 5", own).is_none());
}
