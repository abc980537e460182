//! The programs, as their users run them.

use crate::support::{Answer, Directory, Server};
use colored_traces::format::Reader;
use std::fs;
use std::process::Command;

const TRACEGEN: &str = env!("CARGO_BIN_EXE_tracegen");
const TRACEPLAY: &str = env!("CARGO_BIN_EXE_traceplay");
const LAIO: &str = env!("CARGO_BIN_EXE_laio");

/// The exit status, the standard output, and the standard error.
fn run(program: &str, line: &str) -> (i32, String, String) {
    let output = Command::new(program).args(line.split_whitespace()).output().expect("it starts");
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

/// The standard output of a program that succeeds.
fn succeed(program: &str, line: &str) -> String {
    let (status, output, error) = run(program, line);
    assert_eq!((status, error), (0, String::new()), "{line}");
    output
}

#[test]
fn the_programs_make_a_trace_its_files_and_play_it() {
    let directory = Directory::new();
    let [trace, root] = ["trace", "root"].map(|name| directory.0.join(name).display().to_string());
    let made = succeed(TRACEGEN, &format!("new rice {trace} --scale=0.01 --seed 3"));
    assert!(made.contains("requests           2458\n"), "{made}");
    assert!(made.contains("footprint         11.00 MB\n"), "{made}");
    assert!(made.ends_with("needs a server with 20.0 MB.\n"), "{made}");
    assert!(made.starts_with(&succeed(TRACEGEN, &format!("show {trace}"))));
    let start = succeed(TRACEGEN, &format!("show {trace} --sequences 20"));
    assert!(start.contains("sequences            20\n"), "{start}");

    let (status, _, error) = run(TRACEGEN, &format!("files {trace} {root} --limit 10MB"));
    let text = "error: the files have 11000000 bytes; allowed are 10000000, by the limit\n";
    assert_eq!((status, error.as_str()), (1, text));
    succeed(TRACEGEN, &format!("files {trace} {root} --limit 11MB"));
    succeed(TRACEGEN, &format!("check {trace} {root}"));

    let file = fs::File::open(&trace).expect("it exists");
    let reader = Reader::new(std::io::BufReader::new(file)).expect("it is a trace");
    let server = Server::new(reader.files(), |request| match request {
        20 => Answer::Status(500),
        _ => Answer::Right,
    });
    let options = format!("{trace} {} --clients 4 --check-content", server.address);
    let (status, played, error) = run(TRACEPLAY, &format!("closed {options}"));
    assert_eq!((status, error.as_str()), (1, "error: 1 requests failed\n"));
    assert!(played.contains("requests            2457 "), "{played}");
    assert!(played.contains("faults                 1, 1 status\n"), "{played}");
    let played = succeed(TRACEPLAY, &format!("open {options} --rate 200 --sequences 10"));
    assert!(played.contains("sequences             10\n"), "{played}");
}

#[test]
fn help_is_the_usage_on_standard_output() {
    for (program, start) in [
        (TRACEGEN, "usage: tracegen new"),
        (TRACEPLAY, "usage: traceplay closed"),
        (LAIO, "usage: laio DIR"),
    ] {
        let usage = succeed(program, "--help");
        assert!(usage.starts_with(start), "{usage}");
    }
}

#[test]
fn a_mistake_is_named_with_what_is_allowed_and_the_usage() {
    for (program, line, mistake) in [
        (TRACEGEN, "", "the command: new, show, files or check is missing"),
        (TRACEGEN, "old", "the command is \"old\"; allowed is new, show, files or check"),
        (TRACEGEN, "new", "PROFILE is missing"),
        (TRACEGEN, "new mit x", "PROFILE is \"mit\"; allowed is rice, berkeley or specweb"),
        (TRACEGEN, "new specweb x --per-sequence 8", "--per-sequence: specweb has 10 always"),
        (TRACEGEN, "new rice x --scale 2", "scale is 2; allowed is above 0, at most 1"),
        (TRACEGEN, "new rice x --seed x", "--seed is \"x\"; allowed is 0 to 2^64 - 1"),
        (TRACEGEN, "show x y", "\"y\" is not known here, or is given twice"),
        (
            TRACEGEN,
            "files x y --limit much",
            "--limit is \"much\"; allowed is bytes, such as 4096, 300MB or 7GB",
        ),
        (TRACEPLAY, "ajar", "the mode is \"ajar\"; allowed is closed or open"),
        (TRACEPLAY, "open x 127.0.0.1:1", "--rate is missing: the open loop needs it"),
        (TRACEPLAY, "closed x 127.0.0.1:1 --rate 1", "--rate is for the open loop only"),
        (
            TRACEPLAY,
            "closed x example.org:80",
            "address is example.org:80; allowed is a loopback address with a port, \
             such as 127.0.0.1:8080 or [::1]:8080",
        ),
        (LAIO, "", "DIR is missing"),
        (
            LAIO,
            "x --clients 8,2000",
            "--clients is \"8,2000\"; allowed is numbers from 1 to 1024 with commas between them",
        ),
        (
            TRACEPLAY,
            "closed x 127.0.0.1:1 --seconds -1",
            "--seconds is \"-1\"; allowed is seconds, above 0, at most 86400",
        ),
    ] {
        let (status, _, error) = run(program, line);
        assert_eq!(status, 2, "{line}: {error}");
        assert!(error.starts_with(&format!("error: {mistake}\n\nusage: ")), "{line}: {error}");
    }
}

#[test]
fn a_trace_that_does_not_exist_is_named() {
    let (status, _, error) = run(TRACEGEN, "show /does/not/exist");
    assert_eq!(status, 1);
    assert!(error.starts_with("error: /does/not/exist: "), "{error}");
}
