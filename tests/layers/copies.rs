//! What two files say is the same, where neither can read the other: packages contain no files of each other.

use super::root;
use std::fs;

fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The lines of the list of clippy's configuration, as `file` shows it behind `comment`.
fn disallowed_methods(file: &str, comment: &str) -> Vec<String> {
    let text = text(file);
    let lines = text.lines().map(|line| line.strip_prefix(comment).unwrap_or(line).trim());
    let list = lines.skip_while(|line| *line != "disallowed-methods = [");
    let list: Vec<_> = list.take_while(|line| *line != "]").map(str::to_owned).collect();
    assert!(list.len() > 15, "{file}: {list:?}");
    list
}

/// Clippy checks that the names of its own list exist.
#[test]
fn the_list_of_blocking_methods_is_the_workspaces() {
    let shown = disallowed_methods("crates/colored/src/sync.rs", "//!");
    assert_eq!(shown, disallowed_methods("clippy.toml", ""));
}

#[test]
fn the_macros_allow_as_many_workers_as_the_builder() {
    let most = |file: &str| {
        let text = text(file);
        let (_, rest) = text.split_once("const MAX_WORKERS: usize = ").expect("a constant");
        rest.split_once(';').expect("it ends").0.to_owned()
    };
    let builder = most("crates/colored/src/runtime/builder/build.rs");
    assert_eq!(builder, most("crates/colored-macros/src/options/value.rs"));
}
