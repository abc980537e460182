//! The limits of the system that thousands of connections and threads reach.

use colored_benches::http::numbered::OF_ADDRESS;
use rustix::process::{Resource, Rlimit, geteuid, getrlimit, setrlimit};
use std::fs;
use std::path::Path;

/// Descriptors, threads and mappings that the server needs beside its connections.
const SPARE: u64 = 64;
/// Mappings of a thread: its stack, the stack for signals, and a guard of each.
const OF_THREAD: u64 = 4;

/// One limit; `None` for none.
struct Limit {
    name: &'static str,
    allowed: Option<u64>,
    needed: u64,
}

/// The limits that are too low for so many clients, each with the number needed, as one text. First raises the soft
/// limits of this process, which its children have too.
///
/// # Errors
///
/// If some limit is too low.
pub(super) fn check(clients: usize) -> Result<(), String> {
    raise(Resource::Nofile);
    raise(Resource::Nproc);
    let clients = clients as u64;
    let threads = clients + SPARE;
    let file = |path: &str| fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok());
    let limits = [
        Limit {
            name: "open files (RLIMIT_NOFILE, ulimit -n)",
            allowed: getrlimit(Resource::Nofile).current,
            needed: clients + SPARE,
        },
        Limit {
            name: "threads of the user (RLIMIT_NPROC, ulimit -u)",
            allowed: getrlimit(Resource::Nproc).current.filter(|_| !geteuid().is_root()),
            needed: threads,
        },
        Limit {
            name: "threads of the system (/proc/sys/kernel/threads-max)",
            allowed: file("/proc/sys/kernel/threads-max"),
            needed: threads,
        },
        Limit {
            name: "numbers of threads (/proc/sys/kernel/pid_max)",
            allowed: file("/proc/sys/kernel/pid_max"),
            needed: threads,
        },
        Limit {
            name: "threads of the control group (pids.max)",
            allowed: of_groups(),
            needed: threads,
        },
        Limit {
            name: "mappings of a process (/proc/sys/vm/max_map_count)",
            allowed: file("/proc/sys/vm/max_map_count"),
            needed: OF_THREAD * threads,
        },
        Limit {
            name: "ports of an address (/proc/sys/net/ipv4/ip_local_port_range)",
            allowed: ports(),
            needed: clients.min(OF_ADDRESS as u64) + SPARE,
        },
    ];
    let low: Vec<String> = limits.iter().filter_map(Limit::too_low).collect();
    if low.is_empty() { Ok(()) } else { Err(low.join(", ")) }
}

impl Limit {
    fn too_low(&self) -> Option<String> {
        let allowed = self.allowed.filter(|&allowed| allowed < self.needed)?;
        Some(format!("{}: {allowed}, needed {}", self.name, self.needed))
    }
}

/// Raises a soft limit to the hard one. If the system refuses, the check tells.
fn raise(resource: Resource) {
    let Rlimit { maximum, .. } = getrlimit(resource);
    let _ = setrlimit(resource, Rlimit { current: maximum, maximum });
}

/// The least limit of this process's control group and of those around it.
fn of_groups() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let limits = groups.lines().filter_map(|line| {
        let [_, controllers, path] = *line.splitn(3, ':').collect::<Vec<_>>() else { return None };
        let root = match controllers {
            "pids" => Path::new("/sys/fs/cgroup/pids"),
            "" => Path::new("/sys/fs/cgroup"),
            _ => return None,
        };
        let path = root.join(path.trim_start_matches('/'));
        let around = path.ancestors().take_while(|folder| folder.starts_with(root));
        let read = |folder: &Path| fs::read_to_string(folder.join("pids.max")).ok();
        // The word for no limit is no number.
        around.filter_map(|folder| read(folder)?.trim().parse().ok()).min()
    });
    limits.min()
}

fn ports() -> Option<u64> {
    let range = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut ends = range.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (ends.next()?.ok()?, ends.next()?.ok()?);
    Some(last.saturating_sub(first) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_too_low_names_itself_and_the_number_needed() {
        check(10).expect("any machine allows that");
        let text = check(1_000_000_000).unwrap_err();
        for name in ["ulimit -n", "threads-max", "pid_max", "max_map_count"] {
            assert!(!cfg!(target_os = "linux") || text.contains(name), "{text}");
        }
        assert!(text.contains(", needed 1000000064"), "{text}");
        assert!(!text.contains("ports"), "the ports suffice: {text}");
    }
}
