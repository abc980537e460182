//! Whether a thread has something to do for a CPU, as Linux tells.

use std::fs;

/// The number by which the system tells of this thread; `None` where no system does.
pub(super) fn number_of_this_thread() -> Option<i32> {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        Some(rustix::thread::gettid().as_raw_nonzero().get())
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    None
}

/// The numbers of so many threads, of which those that have begun are known; `None` if one has not begun. Where no system tells,
/// there are none.
pub(super) fn numbers_of_all(known: &[i32], threads: usize) -> Option<Vec<i32>> {
    let is_complete = known.is_empty() || known.len() == threads;
    is_complete.then(|| known.to_vec())
}

/// Whether one of these threads runs, or waits for a CPU or for a disk: it is slow, and not stuck. Also a thread whose turn
/// is over, or that gives way: it is about to tell the next one to go on.
pub(super) fn is_some_busy(threads: &[i32]) -> bool {
    // Twice: a thread may have been told to go on between the looks at it and at the one that has told it.
    (0..2).any(|_| threads.iter().any(|thread| is_busy(*thread)))
}

fn is_busy(thread: i32) -> bool {
    let text = fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
    // The state stands behind the name, which is in parentheses and may have some.
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['R', 'D']))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{is_busy, is_some_busy, number_of_this_thread, numbers_of_all};
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    /// The number of no thread.
    const NOBODY: i32 = -1;

    #[test]
    fn a_thread_that_waits_for_another_is_not_busy() {
        let (send, numbers) = channel();
        let (stop, stopped) = channel::<()>();
        let waiting = thread::spawn(move || {
            send.send(number_of_this_thread().unwrap()).unwrap();
            stopped.recv().unwrap_err();
        });
        let number = numbers.recv().unwrap();
        while is_busy(number) {
            thread::sleep(Duration::from_millis(1));
        }
        let own = number_of_this_thread().unwrap();
        assert!(is_busy(own), "this one runs");
        assert!(is_some_busy(&[number, own]));
        assert!(!is_some_busy(&[number, number]));
        drop(stop);
        waiting.join().unwrap();
        assert!(!is_busy(NOBODY));
    }

    /// A system that has much else to do lets a new thread wait for long.
    #[test]
    fn a_thread_that_has_not_begun_is_not_known_to_wait() {
        assert_eq!(numbers_of_all(&[NOBODY], 2), None);
        assert_eq!(numbers_of_all(&[NOBODY], 1), Some(vec![NOBODY]));
        assert_eq!(numbers_of_all(&[], 2), Some(Vec::new()), "no system like Linux");
    }
}
