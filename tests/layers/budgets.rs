//! The sizes of the tree stand in `budgets.txt`, and only go down.
//!
//! A line of code is a line that is neither blank nor begins with `//`: `git ls-files '*.rs' | xargs grep -hvcE '^\s*(//|$)'`.
//! An `unsafe` block is the word with a brace behind it. Pages are files that end in `.md`.
//!
//! `COLORED_WRITE_BUDGETS=1 cargo test -p colored-tests --test layers budgets` writes what has become smaller, and a line
//! for each new folder.

use super::{FILES, root};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

const FILE: &str = "tests/layers/budgets.txt";

/// The figures of a folder, in the order of the columns of [`FILE`].
type Figures = [usize; 4];
const COLUMNS: [&str; 4] = ["lines of code", "unsafe blocks", "files", "bytes of pages"];

/// A row for all packages that a newcomer compiles, in the first column.
const PACKAGES: &str = "packages";

/// Every crate and every other top folder; a crate's sources without their models and tests have a row of their own.
fn rows_of(file: &str) -> Vec<String> {
    let parts: Vec<_> = file.split('/').collect();
    let Some((_, folders)) = parts.split_last() else { return Vec::new() };
    let mut rows = vec!["all".to_owned()];
    match folders {
        [] => {}
        ["crates" | "benches" | "examples", package, rest @ ..] => {
            rows.push(format!("{}/{package}", folders[0]));
            let is_source = rest.first() == Some(&"src") && !is_of_tests(file);
            if is_source && folders[0] == "crates" {
                rows.push(format!("crates/{package}/src"));
            }
        }
        [top, ..] => rows.push((*top).to_owned()),
    }
    rows
}

fn is_of_tests(file: &str) -> bool {
    ["/tests/", "/tests.rs", "/model/", "/model.rs"].iter().any(|part| file.contains(part))
}

fn is_code(line: &&str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with("//")
}

/// The pages of the tree, by their paths in it.
pub(super) fn pages() -> Vec<(String, usize)> {
    let (mut found, mut folders) = (Vec::new(), vec![root().to_owned()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).expect("the folder can be listed");
        for path in entries.map(|entry| entry.expect("the folder can be read").path()) {
            if path.is_dir() {
                if !path.ends_with("target") && !path.ends_with(".git") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let bytes = fs::metadata(&path).expect("the page is there").len();
                found.push((name(&path), usize::try_from(bytes).expect("pages are small")));
            }
        }
    }
    found
}

fn name(path: &Path) -> String {
    let name = path.strip_prefix(root()).expect("it is in the tree");
    name.to_str().expect("a name in UTF-8").replace('\\', "/")
}

/// How many packages `cargo test --workspace` compiles on this platform.
fn packages() -> usize {
    let version = Command::new("rustc").arg("-vV").output().expect("rustc says its version");
    let version = String::from_utf8(version.stdout).expect("text");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let cargo = Command::new(env!("CARGO"))
        .args(["tree", "--workspace", "--edges", "normal,build,dev", "--prefix", "none"])
        .args(["--target", host, "--locked", "--format", "{p}"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let text = String::from_utf8(cargo.stdout).expect("text");
    let package = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    let names: std::collections::BTreeSet<_> =
        text.lines().filter(|line| !line.is_empty()).map(package).collect();
    names.len()
}

fn measure() -> BTreeMap<String, Figures> {
    let mut found = BTreeMap::<String, Figures>::new();
    let mut add = |file: &str, figures: Figures| {
        for row in rows_of(file) {
            let sum = found.entry(row).or_default();
            sum.iter_mut().zip(figures).for_each(|(sum, figure)| *sum += figure);
        }
    };
    for (file, source) in FILES.iter() {
        let text = fs::read_to_string(root().join(file)).expect("the file can be read");
        add(file, [text.lines().filter(is_code).count(), source.unsafe_blocks(), 1, 0]);
    }
    for (page, bytes) in pages() {
        add(&page, [0, 0, 0, bytes]);
    }
    found.insert(PACKAGES.to_owned(), [packages(), 0, 0, 0]);
    found
}

fn parse(text: &str) -> BTreeMap<String, Figures> {
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next().expect("a folder").to_owned();
        let figures = COLUMNS.map(|column| {
            let figure = words.next().and_then(|word| word.parse().ok());
            figure.unwrap_or_else(|| panic!("{FILE}: {name} has no number of {column}"))
        });
        (name, figures)
    };
    let is_row = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
    text.lines().filter(is_row).map(row).collect()
}

/// What is above its line, and what has none.
fn faults(allowed: &BTreeMap<String, Figures>, found: &BTreeMap<String, Figures>) -> Vec<String> {
    let mut faults = Vec::new();
    for (row, figures) in found {
        let Some(limits) = allowed.get(row) else {
            faults.push(format!("{FILE} has no line for {row}: {figures:?}"));
            continue;
        };
        for ((figure, limit), column) in figures.iter().zip(limits).zip(COLUMNS) {
            if figure > limit {
                faults.push(format!(
                    "{row} has {figure} {column}, {} more than {FILE} allows",
                    figure - limit
                ));
            }
        }
    }
    let gone = allowed.keys().filter(|row| !found.contains_key(*row));
    faults.extend(gone.map(|row| format!("{FILE} has a line for {row}, which is gone")));
    faults
}

/// The file with each figure that has become smaller, with rows for new folders, and without rows that are gone. Comments stay.
fn lower(text: &str, found: &BTreeMap<String, Figures>) -> String {
    let mut lines = Vec::new();
    let show = |row: &str, [a, b, c, d]: Figures| format!("{row:<34}{a:>10}{b:>10}{c:>10}{d:>10}");
    for line in text.lines() {
        if line.trim().is_empty() || line.starts_with('#') {
            lines.push(line.to_owned());
            continue;
        }
        let (row, limits) = parse(line).pop_first().expect("a row");
        if let Some(figures) = found.get(&row) {
            lines.push(show(&row, std::array::from_fn(|at| figures[at].min(limits[at]))));
        }
    }
    let old = parse(text);
    let new = found.iter().filter(|(row, _)| !old.contains_key(*row));
    lines.extend(new.map(|(row, figures)| show(row, *figures)));
    lines.join("\n") + "\n"
}

#[test]
fn the_tree_is_within_its_budgets() {
    let path = root().join(FILE);
    let text = fs::read_to_string(&path).expect("the budgets can be read");
    let found = measure();
    if std::env::var_os("COLORED_WRITE_BUDGETS").is_some() {
        fs::write(&path, lower(&text, &found)).expect("the budgets can be written");
    }
    super::assert_none(faults(&parse(&text), &found));
}

#[test]
fn a_figure_above_its_budget_is_found() {
    let text = "# why\ncrates/a 10 2 3 400\ntests 7 0 1 0\n";
    let allowed = parse(text);
    let found = |lines| BTreeMap::from([("crates/a".to_owned(), [lines, 2, 3, 100])]);
    let mut with_tests = found(12);
    with_tests.insert("docs".to_owned(), [0, 0, 0, 9]);
    assert_eq!(
        faults(&allowed, &with_tests),
        [
            "crates/a has 12 lines of code, 2 more than tests/layers/budgets.txt allows",
            "tests/layers/budgets.txt has no line for docs: [0, 0, 0, 9]",
            "tests/layers/budgets.txt has a line for tests, which is gone",
        ]
    );
    let lowered = lower(text, &found(9));
    assert!(lowered.starts_with("# why\ncrates/a "), "{lowered}");
    assert_eq!(parse(&lowered), BTreeMap::from([("crates/a".to_owned(), [9, 2, 3, 100])]));
    assert_eq!(parse(&lower(text, &found(12)))["crates/a"][0], 10, "a budget was raised");
}

#[test]
fn lines_and_blocks_are_counted() {
    let text = "//! A page.\n\nfn f() {\n    // why\n    unsafe { g() }\n}\nunsafe fn g() {}\n";
    assert_eq!(text.lines().filter(is_code).count(), 4);
    assert_eq!(super::source::Source::parse(text).unsafe_blocks(), 1);
    assert_eq!(rows_of("crates/a/src/b/tests.rs"), ["all", "crates/a"]);
    assert_eq!(rows_of("crates/a/src/b.rs"), ["all", "crates/a", "crates/a/src"]);
    assert_eq!(rows_of("docs/dev/a.md"), ["all", "docs"]);
    assert_eq!(rows_of("README.md"), ["all"]);
}
