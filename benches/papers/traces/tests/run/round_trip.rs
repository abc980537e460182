//! Writing and reading a trace.

use colored_traces::format::{Reader, write};
use colored_traces::generate::{Options, Trace, generate};
use colored_traces::profile::Profile;

fn trace() -> Trace {
    let options = Options { scale: 0.02, ..Options::default() };
    generate(&Profile::RICE, &options).expect("the scale is large enough")
}

#[test]
fn a_trace_that_is_written_and_read_is_the_same() {
    let (trace, mut text) = (trace(), Vec::new());
    write(&trace, "one\ntwo", &mut text).expect("a vector takes all bytes");
    let mut reader = Reader::new(&text[..]).expect("it is a trace");
    assert_eq!(reader.files(), trace.files());
    let mut sequence = Vec::new();
    for expected in trace.sequences() {
        assert!(reader.read(&mut sequence).expect("it is a trace"));
        assert_eq!(sequence, expected);
    }
    assert!(!reader.read(&mut sequence).expect("it is a trace"));
}

#[test]
fn a_trace_that_was_cut_is_not_taken_for_a_whole_one() {
    let (trace, mut text) = (trace(), Vec::new());
    write(&trace, "", &mut text).expect("a vector takes all bytes");
    for part in [0.0, 0.1, 0.5, 0.9, 0.999] {
        let text = &text[..(text.len() as f64 * part) as usize];
        let all = || {
            let mut reader = Reader::new(text)?;
            while reader.read(&mut Vec::new())? {}
            Ok(())
        };
        let error: Result<(), colored_traces::format::ParseError> = all();
        let error = error.expect_err("the end is missing");
        let lines = text.iter().filter(|byte| **byte == b'\n').count() as u64;
        assert!((lines..=lines + 2).contains(&error.line()), "{error}");
    }
}
