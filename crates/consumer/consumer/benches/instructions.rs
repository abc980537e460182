//! `cargo bench -p colored-rt-consumer --bench instructions`: the instructions of a record on the embedded engine, by part, as
//! valgrind's callgrind counts them: 12 partitions, Zipf keys, one worker, and a handler that is ready at once.
//!
//! A child consumes a topic, and another one a longer topic of the same engine: the difference is the records', without the
//! opening. An instruction belongs to the part of the file that it was compiled from. One of the standard library, of the allocator
//! or of a small crate belongs to the function that has it or calls it, after the compiler has moved functions into others. Build
//! with `CARGO_PROFILE_BENCH_DEBUG=line-tables-only`: without it, all go by functions. Numbers choose how many keys there are; the
//! word `keep` leaves callgrind's files.

#[allow(dead_code, reason = "the bench `consumer` uses the rest")]
#[path = "consumer/support.rs"]
mod support;

use crate::support::{Directory, PARTITIONS, open, record, runtime, zipf};
use colored::time::Duration;
use colored_consumer::Consumer;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};

/// The topics, and how many records each has.
const TOPICS: [(&str, usize); 2] = [("short", 20_000), ("long", 60_000)];

/// What the path of a module says of its part. The first that fits counts.
const PARTS: [(&str, &str); 29] = [
    ("progress::tracker", "tracker"),
    ("progress::words", "tracker"),
    ("progress::", "commit"),
    ("colored_consumer::log", "reading"),
    ("colored_consumer::embedded::offsets", "commit"),
    ("colored_consumer::embedded", "reading"),
    ("<colored_consumer::source::Record as", "record: copies and drops"),
    ("drop_in_place<colored_consumer::source::Record", "record: copies and drops"),
    ("consumer::kept", "record: copies and drops"),
    ("consumer::commits", "commit"),
    ("consumer::driver", "driver"),
    ("consumer::pauses", "bounds"),
    ("consumer::permits", "bounds"),
    ("consumer::shared", "bounds"),
    ("consumer::shares", "bounds"),
    ("consumer::figures", "sentinels"),
    ("consumer::claimed", "lanes: find, make, remove"),
    ("consumer::key_hash", "lanes: find, make, remove"),
    ("consumer::lane", "lanes: their queues"),
    ("consumer::table", "lanes: their queues"),
    ("consumer::waiting", "lanes: their queues"),
    ("consumer::rate", "lanes: accept, start of runs"),
    ("consumer::starts", "lanes: accept, start of runs"),
    ("consumer::state", "driver"),
    ("consumer::reports", "reports of runs"),
    ("consumer::", "run, call of the handler"),
    ("instructions::", "run, call of the handler"),
    ("colored_core", "turns: tasks, scheduler"),
    ("colored::", "turns: tasks, scheduler"),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [word, directory, topic] = &words[..]
        && word == "child"
    {
        return consume(directory.into(), topic);
    }
    let keeps = words.iter().any(|word| word == "keep");
    let keys: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    for keys in if keys.is_empty() { vec![1_000, 1, 100_000] } else { keys } {
        count(keys, keeps);
    }
}

/// The child: opens the engine, and handles a topic.
fn consume(directory: PathBuf, topic: &str) {
    let topic = topic.to_owned();
    runtime(1).run(async move {
        let engine = open(directory).await;
        let member = engine.member(&topic, [topic.clone()]).join().await.expect("a member");
        // Commits come by the number of records: by time, their part would be larger on a slower machine.
        let builder = Consumer::builder(member).commit_every(Duration::from_secs(3_600));
        let consumer = builder.start(|_, _| std::future::ready(Ok(())));
        let consumer = consumer.expect("the settings are good");
        assert!(consumer.caught_up().await);
        consumer.stop().await.expect("the engine works");
    });
}

fn count(keys: usize, keeps: bool) {
    let directory = Directory::new("instructions");
    let path = directory.path().to_owned();
    runtime(2).run(async move {
        let engine = open(path).await;
        for (topic, count) in TOPICS {
            engine.create_topic(topic, PARTITIONS).await.expect("a topic");
            let records: Vec<_> = zipf(count, keys).map(record).collect();
            engine.send_all(topic, records).await.expect("a log");
        }
    });
    let [short, long] = TOPICS.map(|(topic, _)| parts_of(directory.path(), topic));
    let records = (TOPICS[1].1 - TOPICS[0].1) as f64;
    let of = |parts: &Parts, part: &str| parts.get(part).copied().unwrap_or(0) as f64;
    let each = |part: &&'static str| (*part, (of(&long, part) - of(&short, part)) / records);
    let mut parts: Vec<_> = long.keys().map(each).collect();
    let total: f64 = parts.iter().map(|(_, each)| each).sum();
    println!("{keys} keys: {total:.0} instructions a record");
    parts.sort_by(|one, other| other.1.total_cmp(&one.1));
    for (part, each) in parts.iter().filter(|(_, each)| *each >= 1.0) {
        println!("  {each:7.0}  {part}");
    }
    if keeps {
        println!("  {}", directory.path().display());
        std::mem::forget(directory);
    }
}

/// The instructions of each part.
type Parts = BTreeMap<&'static str, u64>;

/// The instructions of a child, by part.
fn parts_of(directory: &Path, topic: &str) -> Parts {
    let counted = directory.join(format!("callgrind.{topic}"));
    let valgrind = Command::new("valgrind")
        .args(["--tool=callgrind", "--error-exitcode=1", "-q"])
        .arg(format!("--callgrind-out-file={}", counted.display()))
        .arg(std::env::current_exe().expect("the path of this program"))
        .arg("child")
        .arg(directory)
        .arg(topic)
        .stderr(Stdio::inherit())
        .status();
    if !valgrind.is_ok_and(|status| status.success()) {
        eprintln!("valgrind is not there, or has failed");
        exit(1);
    }
    parse(&std::fs::read_to_string(counted).expect("callgrind has written it"))
}

/// Sums the costs in callgrind's file by part.
fn parse(text: &str) -> Parts {
    let (mut names, mut parts) = (HashMap::new(), Parts::new());
    let (mut file, mut function, mut called) = (String::new(), String::new(), String::new());
    let mut lines = text.lines();
    let cost = |line: &str| line.split(' ').nth(1).and_then(|cost| cost.parse::<u64>().ok());
    while let Some(line) = lines.next() {
        match line.split_once('=') {
            Some(("fl" | "fi" | "fe", name)) => file = full(&mut names, "file", name),
            Some(("cfl" | "cfi", name)) => drop(full(&mut names, "file", name)),
            Some(("fn", name)) => function = full(&mut names, "function", name),
            Some(("cfn", name)) => called = full(&mut names, "function", name),
            // The next line has the cost of the call, with all that was called from there.
            Some(("calls", _)) => {
                let of_call = lines.next().and_then(cost).unwrap_or(0);
                if is_helper(&called) && !is_helper(&function) {
                    *parts.entry(part(&file, &function)).or_default() += of_call;
                }
            }
            None if line
                .starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) =>
            {
                if !is_helper(&function) {
                    *parts.entry(part(&file, &function)).or_default() += cost(line).unwrap_or(0);
                }
            }
            _ => {}
        }
    }
    parts
}

/// The whole name: callgrind writes each once, with a number, and then the number.
fn full(
    names: &mut HashMap<(&'static str, String), String>,
    of: &'static str,
    name: &str,
) -> String {
    let (number, rest) = name.split_once(' ').unwrap_or((name, ""));
    names.entry((of, number.to_owned())).or_insert_with(|| rest.to_owned()).clone()
}

/// Whether a function only works for its caller, and calls nothing of the consumer or the runtime.
fn is_helper(function: &str) -> bool {
    let words = [
        "malloc",
        "free",
        "realloc",
        "calloc",
        "memcpy",
        "memset",
        "memmove",
        "memcmp",
        "bcmp",
        "unlink_chunk",
        "__rdl_",
        "__rust_alloc",
        "__rust_dealloc",
        "__rust_realloc",
        "crc32fast",
        "bytes::",
        "hash_one",
        "sip::",
        "Timespec",
        "clock_gettime",
        "RawVec",
        "raw_vec",
        "from_utf8",
        "tls_get",
    ];
    let is_own = ["colored_", "instructions::"].iter().any(|own| function.contains(own));
    !is_own && words.iter().any(|word| function.contains(word))
}

fn part(file: &str, function: &str) -> &'static str {
    let of = |path: &str| PARTS.iter().find(|(word, _)| path.contains(word)).map(|(_, part)| *part);
    let of_file = module_of(file).and_then(|module| of(&module));
    of_file.or_else(|| of(function)).unwrap_or("the rest: standard library and system")
}

/// The module of a file of this repository.
fn module_of(file: &str) -> Option<String> {
    let (_, inner) = file.rsplit_once("/crates/")?;
    let (package, path) = inner.split_once("/src/")?;
    let module = path.strip_suffix(".rs")?.replace('/', "::");
    Some(format!(
        "{}::{module}",
        if package.starts_with("consumer/") { "colored_consumer" } else { "colored_core" }
    ))
}
