//! The server for static files: the colors of its steps, its copies, and one reading for many clients.

use crate::httpd::{Files, MODES, fetch, large, start, stop};
use std::fs;
use std::thread;
use std::time::{Duration, SystemTime};

#[test]
fn each_file_is_read_once_however_many_clients_come_at_once() {
    let files = Files::new("once");
    let old = SystemTime::now() - Duration::from_secs(60);
    for name in ["hello.txt", "large.bin"] {
        let file = fs::File::options().write(true).open(files.path().join(name)).unwrap();
        file.set_modified(old).unwrap();
    }
    for (options, copies) in [("", 1), (" --coloring serial", 1), (" --copies 3 --workers 1", 3)] {
        for mode in MODES {
            let (httpd, addr) =
                start(&files, &format!("--fs {mode} --recheck-ms 86400000{options}"));
            let client = move |n: usize| match n % 2 {
                0 => assert_eq!(fetch(addr, "/hello.txt", "").1, b"Hello, World!"),
                _ => assert!(fetch(addr, "/large.bin", "").1 == large()),
            };
            let clients: Vec<_> = (0..64).map(|n| thread::spawn(move || client(n))).collect();
            clients.into_iter().for_each(|client| client.join().unwrap());
            let [hits, misses, reads, evictions] = stop(httpd);
            assert_eq!((hits + misses, evictions), (64, 0), "{mode}{options}");
            assert!((2..=2 * copies).contains(&reads), "{mode}{options}: {reads}");
            assert!(misses >= reads, "{mode}{options}: {misses}, {reads}");
        }
    }
}

/// The colors of each step of the given name, in order, without repetitions.
fn colors(lines: &[String], step: &str) -> Vec<String> {
    let start = format!("step {step}: ");
    let of_step = lines.iter().filter_map(|line| line.strip_prefix(start.as_str()));
    let mut colors: Vec<String> = of_step.map(str::to_owned).collect();
    colors.dedup();
    colors
}

#[test]
fn the_steps_of_a_request_have_the_colors_of_the_first_papers_server() {
    let files = Files::new("steps");
    let lines = |options: &str| {
        let (httpd, addr) =
            start(&files, &format!("--steps on --recheck-ms 86400000 --open-files 512 {options}"));
        for _ in 0..2 {
            assert!(fetch(addr, "/large.bin", "").1 == large());
        }
        httpd.stop()
    };
    let lines_of_colored = lines("");
    let [accept, request, look, read, keep, write] =
        ["accept", "request", "look into the cache", "read the file", "keep in the cache", "write"]
            .map(|step| colors(&lines_of_colored, step));
    // One accept loop, two connections, and one shard. The second request reads nothing.
    assert_eq!((accept.len(), request.len(), look.len()), (1, 2, 1), "{lines_of_colored:?}");
    assert_eq!((&read[..], &keep, &write), (&request[..1], &look, &request));
    let mut all = [accept, request, look].concat();
    assert!(!all.contains(&String::from("None")), "{all:?}");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 4, "{all:?}");

    let lines_of_serial = lines("--coloring serial");
    let mut all: Vec<&str> = lines_of_serial
        .iter()
        .filter_map(|line| Some(line.strip_prefix("step ")?.split_once(": ")?.1))
        .collect();
    assert!(all.len() >= 11, "{all:?}");
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 1, "{all:?}");
}

#[test]
fn copies_share_the_address_and_nothing_else() {
    let files = Files::new("copies");
    let (httpd, addr) = start(&files, "--copies 2 --workers 1 --steps on");
    // The system chooses a copy for each; that it never chooses one of two is as good as impossible.
    for _ in 0..60 {
        assert_eq!(fetch(addr, "/hello.txt", "").1, b"Hello, World!");
    }
    let mut accept = Vec::new();
    for line in httpd.stop() {
        accept.extend(line.strip_prefix("step accept: ").map(str::to_owned));
    }
    assert_eq!(accept.len(), 60);
    accept.sort();
    accept.dedup();
    assert_eq!(accept.len(), 2);
}
