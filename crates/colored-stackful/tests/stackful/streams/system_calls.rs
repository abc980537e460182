//! The system calls of reads, as `strace` sees them.
//!
//! The test is skipped where there is no `strace`, or it may not trace. With `COLORED_ALL_PROGRAMS=1` it fails.

use super::support::{pair, run};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::Command;
use std::{env, fs, process};

const READS: usize = 1_000;
/// Files that do not exist: a look for them shows where the reads begin and end.
const MARKS: [&str; 2] = ["/colored-stackful-begin", "/colored-stackful-end"];

#[test]
#[ignore = "`a_ready_read_is_one_system_call` runs it under strace"]
fn reads_between_marks() {
    run(|| {
        let (client, mut server) = pair();
        (&client).write_all(&[7; READS]).unwrap();
        fs::metadata(MARKS[0]).unwrap_err();
        for _ in 0..READS {
            assert_eq!(server.read(&mut [0]).unwrap(), 1);
        }
        fs::metadata(MARKS[1]).unwrap_err();
    });
}

#[test]
fn a_ready_read_is_one_system_call() {
    let trace = env::temp_dir().join(format!("colored-stackful-strace-{}", process::id()));
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", "signal=none", "-o"]).arg(&trace);
    command.arg(env::current_exe().unwrap());
    command.args(["--exact", "streams::system_calls::reads_between_marks", "--ignored"]);
    let output = command.output();
    let text = fs::read_to_string(&trace);
    let _ = fs::remove_file(&trace);
    let (Ok(output), Ok(text)) = (output, text) else { return skip("there is no strace") };
    if !output.status.success() {
        return skip(&String::from_utf8_lossy(&output.stderr));
    }
    let mut calls = between_marks(&text);
    // 32-bit x86 has a call of its own.
    let reads: usize = ["recvfrom", "recv"].iter().filter_map(|call| calls.remove(call)).sum();
    let others: usize = calls.values().sum();
    assert_eq!(reads, READS, "{calls:?}");
    // The worker looks for events when the budget of a poll is used up.
    assert!(others <= READS / 20, "{calls:?}");
}

fn skip(why: &str) {
    println!("skipped: {why}");
    assert!(env::var_os("COLORED_ALL_PROGRAMS").is_none(), "{why}");
}

/// How often each system call was made between the marks, by the thread that made them.
fn between_marks(trace: &str) -> BTreeMap<&str, usize> {
    let line_of = |mark: &str| trace.lines().position(|line| line.contains(mark)).expect(mark);
    let [begin, end] = MARKS.map(line_of);
    let lines: Vec<_> = trace.lines().collect();
    let thread = |line: &str| line.split_whitespace().next().map(str::to_owned);
    assert_eq!(thread(lines[begin]), thread(lines[end]));
    let mut calls = BTreeMap::new();
    for line in lines[begin + 1..end].iter().filter(|line| thread(line) == thread(lines[begin])) {
        let call = line.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
        // A line that begins with `<` is the end of a call that another line has begun.
        if let Some((name, _)) = call.split_once('(').filter(|_| !call.starts_with('<')) {
            *calls.entry(name).or_insert(0) += 1;
        }
    }
    calls
}
