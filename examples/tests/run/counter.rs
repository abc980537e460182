//! The pitch.

use crate::support::Running;

#[test]
fn it_counts() {
    assert_eq!(Running::start("counter", "").end(), ["1 + 2 + ... + 1000 = 500500"]);
}

#[test]
fn it_is_ten_lines() {
    let source = include_str!("../../examples/counter.rs");
    let (_, main) = source.split_once("async fn main() {\n").expect("there is a main function");
    let body = main.lines().take_while(|line| *line != "}").count();
    assert!(body <= 10, "{body} lines");
}
