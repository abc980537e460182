//! A recursive reader that waits in the middle of its recursion.

#[path = "../../examples/calculator/reader.rs"]
mod reader;

use crate::support::Running;
use std::io::ErrorKind;

#[test]
fn it_answers_others_while_one_is_a_thousand_levels_deep() {
    let expected = [
        "(* 6 (+ 3 4)): 42",
        "(+): 0",
        "(- 1): '-', where `+` or `*` is expected",
        "1000 levels: 1001",
    ];
    assert_eq!(Running::start("calculator", "").end(), expected);
}

#[test]
fn the_reader_reads_one_value_and_leaves_the_rest() {
    let mut source = &b" (+ 1 (* 2 3)\n4) 5 "[..];
    assert_eq!(reader::value(&mut source).unwrap(), 11);
    assert_eq!(reader::value(&mut source).unwrap(), 5);
    for (text, kind) in [
        ("", ErrorKind::UnexpectedEof),
        ("(+ 1", ErrorKind::UnexpectedEof),
        ("12", ErrorKind::UnexpectedEof),
        ("(/ 1)", ErrorKind::InvalidData),
        ("x", ErrorKind::InvalidData),
    ] {
        assert_eq!(reader::value(&mut text.as_bytes()).unwrap_err().kind(), kind, "{text:?}");
    }
}
