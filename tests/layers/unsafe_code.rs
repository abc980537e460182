//! `unsafe` stays in the files that `tests/layers/unsafe.txt` lists.

use super::{FOLDERS, assert_none, root, sources};
use std::collections::BTreeSet;
use std::fs;

/// The files that the first column of the list names: a crate, then paths in its sources or its tests.
fn listed(page: &str) -> BTreeSet<String> {
    let (mut files, mut package) = (BTreeSet::new(), String::new());
    let cells =
        page.lines().filter(|line| line.starts_with("| `")).flat_map(|line| line.split('|').nth(1));
    for name in cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)) {
        if !name.ends_with(".rs") {
            package = format!("crates/{}", if name == "colored-rt" { "colored" } else { name });
            continue;
        }
        let folder = match name.split('/').next() {
            Some("benches" | "crates") => String::new(),
            Some("tests") if name.starts_with("tests/emulators/") => String::new(),
            Some("tests") => format!("{package}/"),
            _ => format!("{package}/src/"),
        };
        // As in `lane/{push,turn}.rs`.
        let (start, rest) = name.split_once('{').unwrap_or(("", name));
        let (choices, end) = rest.split_once('}').unwrap_or((rest, ""));
        files.extend(choices.split(',').map(|choice| format!("{folder}{start}{choice}{end}")));
    }
    files
}

#[test]
fn unsafe_stays_where_it_is() {
    let page =
        fs::read_to_string(root().join("tests/layers/unsafe.txt")).expect("the list is there");
    let (mut listed, mut faults) = (listed(&page), Vec::new());
    for (file, source) in FOLDERS.into_iter().flat_map(|folder| {
        sources(folder).into_iter().map(move |(file, source)| (format!("{folder}/{file}"), source))
    }) {
        // Mistakes, which are to be refused.
        let is_mistake = file.starts_with("tests/ui/macros/");
        let is_listed = listed.remove(&file);
        match source.first("unsafe") {
            Some(line) if !is_listed && !is_mistake => {
                faults.push(format!(
                    "{file}:{line}: `unsafe`, and tests/layers/unsafe.txt does not list it"
                ));
            }
            None if is_listed => faults.push(format!("{file}: no longer `unsafe`: off the list")),
            _ => {}
        }
    }
    faults.extend(listed.iter().map(|file| format!("{file}: not there: off the list")));
    assert_none(faults);
}

#[test]
fn the_list_is_read() {
    let page = "| where | why |\n|---|---|\n| `colored-rt`: `a.rs`, `b/{c,d/e}.rs` | `f.rs` |\n\
        | `tests/g.rs` | |\n| `colored-x`: `h.rs`, `benches/i.rs` | |";
    let expected = [
        "benches/i.rs",
        "crates/colored-x/src/h.rs",
        "crates/colored/src/a.rs",
        "crates/colored/src/b/c.rs",
        "crates/colored/src/b/d/e.rs",
        "crates/colored/tests/g.rs",
    ];
    assert_eq!(listed(page).iter().collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
}
