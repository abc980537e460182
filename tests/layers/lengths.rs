//! No function has more than 60 lines, with its comments, from its signature to the brace that closes it.

use super::source::Source;
use super::{assert_none, sources};

const MOST: usize = 60;

fn faults(file: &str, source: &Source) -> Vec<String> {
    let long = source.lengths().into_iter().filter(|(_, lines)| *lines > MOST);
    let fault = |(name, lines)| format!("{file}: {name} has {lines} lines, and {MOST} are allowed");
    long.map(fault).collect()
}

#[test]
fn functions_are_short() {
    let files = sources("crates");
    let of_crates = files.iter().filter(|(file, _)| file.contains("/src/"));
    assert_none(of_crates.flat_map(|(file, source)| faults(file, source)).collect());
}

#[test]
fn a_long_function_is_found() {
    let text = format!(
        "fn a() {{}}\nfn b<F: Fn() -> u8>(\n    f: F,\n) -> [u8; 3]\nwhere F: Send\n{{{}\n}}\ntrait T {{ fn c(); }}",
        "\n// a line".repeat(54)
    );
    let source = Source::parse(&text);
    assert_eq!(source.lengths(), [("a".into(), 1), ("b".into(), 60)]);
    assert_eq!(faults("x.rs", &source), [""; 0]);
    let longer = Source::parse(&text.replace("{\n", "{\n\n"));
    assert_eq!(faults("x.rs", &longer), ["x.rs: b has 61 lines, and 60 are allowed"]);
}
