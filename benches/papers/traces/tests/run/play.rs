//! The player against a server.

use crate::support::{Answer, Server};
use colored_traces::format::{Reader, write};
use colored_traces::generate::{Options, generate};
use colored_traces::play::{FaultKind, PlayError, Report, Settings, Stop, play};
use colored_traces::profile::Profile;
use std::fmt::Write;
use std::time::{Duration, Instant};

const SIZES: [u64; 4] = [0, 1, 10_000, 300_000];

/// A trace of `count` sequences, each of which requests all four files.
fn text(count: u64) -> String {
    let mut text = "colored-trace 1 4\n".to_owned();
    SIZES.iter().for_each(|size| writeln!(text, "file {size}").expect("a string takes all"));
    (0..count).for_each(|_| text.push_str("seq 3 2 1 0\n"));
    writeln!(text, "end {count} {}", count * 4).expect("a string takes all");
    text
}

fn run(settings: &Settings, text: &str) -> Report {
    let reader = Reader::new(text.as_bytes()).expect("it is a trace");
    play(reader, settings).expect("the settings are right")
}

/// Checks that a trace of one sequence has one fault, of this kind, and returns its text.
fn one_fault(kind: FaultKind, answer: Answer) -> String {
    let server =
        Server::new(&SIZES, move |request| if request == 1 { answer } else { Answer::Right });
    let mut settings = Settings::closed(server.address, 1);
    settings.check_content = true;
    if kind == FaultKind::Timeout {
        settings.timeout = Duration::from_secs(2);
    }
    let report = run(&settings, &text(1));
    assert_eq!((report.all_faults(), report.faults(kind)), (1, 1), "{report}");
    // The other requests of the sequence follow on a new connection.
    assert_eq!((report.requests, report.connections), (3, 2), "{report}");
    assert_eq!((report.sequences, report.failed_sequences), (0, 1), "{report}");
    let fault = report.first_fault.clone().expect("there was one");
    assert!(report.to_string().contains(&fault), "{report}");
    fault
}

#[test]
fn all_requests_of_a_trace_are_served_with_their_bytes_on_a_connection_for_each_sequence() {
    let options = Options { scale: 0.005, ..Options::default() };
    let trace = generate(&Profile::RICE, &options).expect("the scale is large enough");
    let mut text = Vec::new();
    write(&trace, "", &mut text).expect("a vector takes all bytes");
    let server = Server::new(trace.files(), |_| Answer::Right);
    let mut settings = Settings::closed(server.address, 8);
    settings.check_content = true;
    let report = run(&settings, str::from_utf8(&text).expect("it is text"));
    let summary = trace.summary();
    assert_eq!((report.stop, report.all_faults()), (Stop::TraceEnd, 0), "{report}");
    assert_eq!(report.requests, summary.requests());
    assert_eq!(report.bytes, summary.transferred().iter().sum::<u64>());
    assert_eq!(report.sequences, summary.sequences());
    assert_eq!((report.files, report.footprint), (summary.files(), summary.footprint()));
    assert_eq!(report.connections, summary.sequences());
    assert_eq!(
        (server.requests(), server.bytes(), server.connections()),
        (report.requests, report.bytes, report.connections)
    );
    assert_eq!(report.request_latency.count, report.requests);
    assert!(report.request_latency.p50 <= report.request_latency.p999);
    assert!(report.request_latency.max <= report.sequence_latency.max);
}

#[test]
fn without_keep_alive_each_request_has_a_connection() {
    let server = Server::new(&SIZES, |_| Answer::Right);
    let settings = Settings { keep_alive: false, ..Settings::closed(server.address, 2) };
    let report = run(&settings, &text(5));
    assert_eq!((report.requests, report.all_faults()), (20, 0), "{report}");
    assert_eq!((report.connections, server.connections()), (20, 20));
}

#[test]
fn a_connection_that_the_server_says_it_closes_is_opened_again() {
    let server = Server::new(&SIZES, |_| Answer::Last);
    let report = run(&Settings::closed(server.address, 1), &text(2));
    assert_eq!((report.requests, report.all_faults(), report.connections), (8, 0, 8), "{report}");
}

#[test]
fn every_kind_of_fault_is_counted_and_reported_with_its_request() {
    let late = Answer::Late(Duration::from_secs(5));
    for (kind, answer, text) in [
        (FaultKind::Status, Answer::Status(503), "status: 503; allowed is 200"),
        (
            FaultKind::Length,
            Answer::Longer(5),
            "length: content-length 10005; allowed is 10000, the size of the file",
        ),
        (FaultKind::Broken, Answer::Half, "broken: the body ended after 5000 of 10000 bytes"),
        (
            FaultKind::Content,
            Answer::Other,
            "content: the body after 0 bytes is not that of the file",
        ),
        (
            FaultKind::Malformed,
            Answer::Garbage,
            "malformed: the line `no HTTP`; allowed is `HTTP/1.1 200 ...`",
        ),
        (FaultKind::Timeout, late, "timeout: "),
    ] {
        let fault = one_fault(kind, answer);
        assert!(fault.starts_with(&format!("GET /00000/0000002: {text}")), "{fault}");
    }
}

#[test]
fn a_server_that_is_not_there_ends_the_run_after_the_limit_of_faults() {
    // The listener closes, so nobody has the port.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound");
    drop(listener);
    let settings = Settings { max_faults: 10, ..Settings::closed(address, 1) };
    let report = run(&settings, &text(1_000));
    assert_eq!(report.stop, Stop::Faults, "{report}");
    assert_eq!((report.faults(FaultKind::Connect), report.requests), (10, 0), "{report}");
}

#[test]
fn the_limit_of_sequences_ends_both_loops() {
    let server = Server::new(&SIZES, |_| Answer::Right);
    for mut settings in [
        Settings::closed(server.address, 2),
        Settings::open(server.address, 2, 1_000.0, Duration::from_secs(60)),
    ] {
        settings.max_sequences = Some(5);
        let report = run(&settings, &text(100));
        assert_eq!((report.stop, report.requests), (Stop::Sequences, 20), "{report}");
        assert_eq!((report.sequences, report.not_started), (5, 0), "{report}");
    }
}

#[test]
fn the_open_loop_ends_in_time_with_every_arrival_served() {
    let server = Server::new(&SIZES, |_| Answer::Right);
    let settings = Settings::open(server.address, 16, 100.0, Duration::from_millis(300));
    let report = run(&settings, &text(10_000));
    assert_eq!(report.stop, Stop::Time, "{report}");
    // Arrivals are at 0, 10 and so on to 290 ms. The last ones may be cut if the machine is busy.
    let all = report.sequences + report.cut_sequences + report.not_started;
    assert_eq!((all, report.all_faults()), (30, 0), "{report}");
    assert!(report.wall >= Duration::from_millis(290), "{report}");
    assert!(report.wall < Duration::from_secs(10), "{report}");
}

#[test]
fn in_the_open_loop_a_slow_server_is_late_for_all_arrivals_meanwhile() {
    let pause = Duration::from_millis(400);
    let server =
        Server::new(
            &SIZES,
            move |request| {
                if request == 0 { Answer::Late(pause) } else { Answer::Right }
            },
        );
    // One client: the sequences that arrive in the pause wait for it.
    let mut settings = Settings::open(server.address, 1, 100.0, Duration::from_secs(60));
    settings.max_sequences = Some(20);
    let report = run(&settings, &text(20));
    assert_eq!((report.requests, report.all_faults()), (80, 0), "{report}");
    // The last of the 20 arrives after 190 ms, so each one waits for 210 ms at least.
    let late = report.sequence_latency;
    assert!(late.p50 >= Duration::from_millis(300), "{report}");
    assert!(late.max >= pause, "{report}");
}

#[test]
fn an_overloaded_open_loop_counts_what_it_did_not_start() {
    let server = Server::new(&SIZES, |_| Answer::Late(Duration::from_millis(100)));
    let settings = Settings::open(server.address, 1, 1_000.0, Duration::from_millis(250));
    let start = Instant::now();
    let report = run(&settings, &text(10_000));
    assert!(start.elapsed() < Duration::from_secs(10), "{report}");
    assert_eq!((report.stop, report.all_faults()), (Stop::Time, 0), "{report}");
    let started = report.sequences + report.cut_sequences;
    assert_eq!(started + report.not_started, 250, "{report}");
    // The first sequence needs 400 ms.
    assert!(started <= 1 && report.sequences == 0, "{report}");
}

#[test]
fn an_error_of_the_trace_ends_the_run_and_names_its_line() {
    let server = Server::new(&SIZES, |_| Answer::Right);
    let text = text(3).replace("end 3 12", "seq 4");
    let reader = Reader::new(text.as_bytes()).expect("the start is a trace");
    let error = play(reader, &Settings::closed(server.address, 2)).expect_err("line 9 is wrong");
    assert!(matches!(error, PlayError::Parse(_)));
    assert_eq!(
        error.to_string(),
        "line 9 of the trace: `4` is not the number of a file: allowed are 0 to 3"
    );
}

#[test]
fn an_address_that_is_not_loopback_is_refused() {
    let address = std::net::SocketAddr::from(([192, 0, 2, 1], 80));
    let reader = Reader::new("colored-trace 1 0\nend 0 0".as_bytes()).expect("it is a trace");
    let error = play(reader, &Settings::closed(address, 1)).expect_err("it is not loopback");
    assert!(matches!(error, PlayError::Settings(_)), "{error}");
}
