//! The state of a thread, from `/proc`.

use std::fs;

/// The number of this thread.
pub(crate) fn this_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()
}

/// The state of a thread of this process, the place in the kernel where it sleeps, and its system call, as far as the
/// kernel tells. A thread that computes has the state R, and no system call.
pub(crate) fn state(thread: u32) -> Option<String> {
    let read = |file: &str| fs::read_to_string(format!("/proc/self/task/{thread}/{file}")).ok();
    let status = read("status")?;
    let state = status.lines().find_map(|line| line.strip_prefix("State:"))?.trim();
    let place = read("wchan").filter(|place| !place.is_empty() && place != "0");
    let place = place.map_or(String::new(), |place| format!(", in {place}"));
    let call = read("syscall");
    let number = call.as_deref().and_then(|call| call.split_whitespace().next());
    let number = number.filter(|number| number.parse::<u32>().is_ok());
    let call = number.map_or(String::new(), |number| format!(", system call {number}"));
    Some(format!("thread {thread}: {state}{place}{call}"))
}
