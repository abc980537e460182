//! Whether a thread has something to do for a CPU, as Linux tells.

use std::fs;
use std::path::{Path, PathBuf};

/// The file that has the state of this thread; `None` where the system has no such file.
pub(super) fn stat_of_this_thread() -> Option<PathBuf> {
    let task = fs::read_link("/proc/thread-self").ok()?;
    Some(Path::new("/proc").join(task).join("stat"))
}

/// Whether the thread runs, or waits for a CPU or for a disk: it is slow, and not stuck.
pub(super) fn is_busy(stat: &Path) -> bool {
    let text = fs::read_to_string(stat).unwrap_or_default();
    // The state stands behind the name, which is in parentheses and may have some.
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['R', 'D']))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{is_busy, stat_of_this_thread};
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
        assert!(is_busy(&stat_of_this_thread().unwrap()), "this one runs");
        drop(stop);
        waiting.join().unwrap();
        assert!(!is_busy(Path::new("/proc/no-thread/stat")));
    }
}
