//! Whether a thread has something to do for a CPU, as Linux tells.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The file that has the state of this thread; `None` where no system has such a file.
pub(super) fn stat_of_this_thread() -> Option<PathBuf> {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let thread = rustix::thread::gettid();
        Some(format!("/proc/self/task/{}/stat", thread.as_raw_nonzero()).into())
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    None
}

/// The files of so many threads, of which those that have begun are known; `None` if one has not begun. Where the system has no
/// such files, there are none.
pub(super) fn stats_of_all(
    known: &BTreeMap<usize, PathBuf>,
    threads: usize,
) -> Option<Vec<PathBuf>> {
    let is_complete = known.is_empty() || known.len() == threads;
    is_complete.then(|| known.values().cloned().collect())
}

/// Whether one of these threads runs, or waits for a CPU or for a disk: it is slow, and not stuck. Also a thread whose turn
/// is over, or that gives way: it is about to tell the next one to go on.
pub(super) fn is_some_busy(stats: &[PathBuf]) -> bool {
    // Twice: a thread may have been told to go on between the looks at it and at the one that has told it.
    (0..2).any(|_| stats.iter().any(|stat| is_busy(stat)))
}

fn is_busy(stat: &Path) -> bool {
    let text = fs::read_to_string(stat).unwrap_or_default();
    // The state stands behind the name, which is in parentheses and may have some.
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['R', 'D']))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{is_busy, is_some_busy, stat_of_this_thread, stats_of_all};
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_thread_that_waits_for_another_is_not_busy() {
        let (send, stats) = channel();
        let (stop, stopped) = channel::<()>();
        let waiting = thread::spawn(move || {
            send.send(stat_of_this_thread().unwrap()).unwrap();
            stopped.recv().unwrap_err();
        });
        let stat = stats.recv().unwrap();
        while is_busy(&stat) {
            thread::sleep(Duration::from_millis(1));
        }
        let own = stat_of_this_thread().unwrap();
        assert!(is_busy(&own), "this one runs");
        assert!(is_some_busy(&[stat.clone(), own]));
        assert!(!is_some_busy(&[stat.clone(), stat]));
        drop(stop);
        waiting.join().unwrap();
        assert!(!is_busy(Path::new("/proc/no-thread/stat")));
    }

    /// A system that has much else to do lets a new thread wait for long.
    #[test]
    fn a_thread_that_has_not_begun_is_not_known_to_wait() {
        let stat = Path::new("/proc/no-thread/stat");
        let known = BTreeMap::from([(0, stat.to_owned())]);
        assert_eq!(stats_of_all(&known, 2), None);
        assert_eq!(stats_of_all(&known, 1), Some(vec![stat.to_owned()]));
        assert_eq!(stats_of_all(&BTreeMap::new(), 2), Some(Vec::new()), "no system like Linux");
    }
}
