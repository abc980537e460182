//! The CPU time of a process and of its descendants, from `/proc`.

use std::collections::HashMap;
use std::time::Duration;
use std::{fs, io, iter};

/// The clock of `/proc/PID/stat` on Linux, in ticks per second.
const TICKS: u64 = 100;

struct Process {
    parent: u32,
    /// Its own time, and that of children that it has waited for.
    ticks: u64,
}

/// The CPU time of a process and its descendants, the ended ones as far as they were waited for.
pub(super) fn of_tree(root: u32) -> io::Result<Duration> {
    let mut processes = HashMap::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let id = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        // A process may have ended since.
        let stat = fs::read_to_string(entry.path().join("stat")).ok();
        processes.extend(id.zip(stat.as_deref().and_then(parse)));
    }
    let parent = |id: &u32| processes.get(id).map(|process: &Process| process.parent);
    let is_of_tree = |id: u32| iter::successors(Some(id), parent).any(|id| id == root);
    let of_tree = processes.iter().filter(|(id, _)| is_of_tree(**id));
    let ticks: u64 = of_tree.map(|(_, process)| process.ticks).sum();
    Ok(Duration::from_millis(ticks * 1000 / TICKS))
}

/// Parses a line of `/proc/PID/stat`. The name of the program is in parentheses, and may have any byte in it.
fn parse(line: &str) -> Option<Process> {
    let (_, rest) = line.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    let ticks = number(11)? + number(12)? + number(13)? + number(14)?;
    Some(Process { parent: number(1)? as u32, ticks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_look_like_a_field() {
        let line = "7 (a) b (c) S 3 7 7 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 99";
        let process = parse(line).unwrap();
        assert_eq!((process.parent, process.ticks), (3, 100));
    }

    #[test]
    fn this_process_has_used_some() {
        let begin = std::time::Instant::now();
        while of_tree(std::process::id()).unwrap() < Duration::from_millis(10) {
            assert!(begin.elapsed() < Duration::from_secs(60), "no CPU time is counted");
        }
    }
}
