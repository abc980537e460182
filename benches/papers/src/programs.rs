//! Figure 2 of libasync-smp: the size of the programs, and the number of their callbacks.
//!
//! A callback of the paper ends where the program waits for an event: here that is an `.await`. What the paper's web server
//! has to color is a callback that is given a color, or scheduled under one: here the name of a function that does so.

use super::{Plan, Report};
use colored_benches::chart::number;
use std::fs;
use std::ops::AddAssign;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The folders of programs: each file or folder in the first is one, and each other is one.
const EXAMPLES: &str = "examples/examples";
const PROGRAMS: [(&str, &str); 4] = [
    ("httpd", "benches/papers/httpd/src"),
    ("rpc", "examples/servers/rpc/src"),
    ("sfs", "examples/servers/sfs/src"),
    ("chord", "examples/servers/chord/src"),
];

/// What gives a step of a program its color.
const COLORED: [&str; 8] = [
    "spawn_colored(",
    "spawn_unique(",
    "spawn_here(",
    "hop(",
    "when(",
    "exclusive(",
    ".call(",
    ".post(",
];

/// The paper's figure, and its web server: lines, callbacks, colored ones.
const PAPER: [(&str, usize, usize, &str); 5] = [
    ("paper: SFS", 39_871, 229, ""),
    ("paper: CFS", 4_960, 87, ""),
    ("paper: Chord", 5_445, 65, ""),
    ("paper: SFSRO", 4_836, 58, ""),
    ("paper: web server", 1_260, 39, "23"),
];

/// The counts of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    lines: usize,
    awaits: usize,
    colored: usize,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.lines += other.lines;
        self.awaits += other.awaits;
        self.colored += other.colored;
    }
}

impl Counts {
    /// Counts the lines that are neither blank nor comments, up to the tests.
    fn of(text: &str) -> Self {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
        let mut counts = Self::default();
        for line in lines.filter(|line| !line.starts_with("use ")) {
            counts += Self {
                lines: 1,
                awaits: line.matches(".await").count(),
                colored: COLORED.iter().map(|name| line.matches(name).count()).sum(),
            };
        }
        counts
    }

    /// The sum of a file, or of all files of a folder.
    fn of_all(path: &Path) -> Self {
        let mut counts = Self::default();
        if path.is_dir() {
            inside(path).iter().for_each(|path| counts += Self::of_all(path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            counts = Self::of(&fs::read_to_string(path).expect("a source can be read"));
        }
        counts
    }
}

/// What is in a folder, in order.
fn inside(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it is listed").path()).collect();
    paths.sort();
    paths
}

/// Counts the examples.
///
/// # Panics
///
/// If the examples are not there.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let mut rows = Vec::new();
    let root = Path::new(ROOT);
    let examples = inside(&root.join(EXAMPLES)).into_iter().map(|path| {
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        (name.unwrap_or_default(), path)
    });
    let programs = PROGRAMS.map(|(name, folder)| (name.to_owned(), root.join(folder)));
    for (name, path) in examples.chain(programs) {
        let counts = Counts::of_all(&path);
        assert!(counts.lines > 0, "{} has no code", path.display());
        rows.push(row(&name, counts.lines, counts.awaits, &counts.colored.to_string()));
    }
    rows.extend(PAPER.map(|(name, lines, wraps, colored)| row(name, lines, wraps, colored)));
    report.table(
        &["program", "lines", "awaits; paper: callbacks", "in 1,000 lines", "colored"],
        &rows,
    );
    report
}

fn row(name: &str, lines: usize, awaits: usize, colored: &str) -> Vec<String> {
    let dense = awaits as f64 * 1e3 / lines as f64;
    let [lines, awaits] = [lines, awaits].map(|count| number(count as f64));
    vec![name.to_owned(), lines, awaits, number(dense), colored.to_owned()]
}

#[cfg(test)]
mod tests {
    use super::Counts;

    #[test]
    fn comments_imports_and_tests_do_not_count() {
        let text = "//! spawn_unique( in a comment\n\nuse colored::hop;\nfn f() {\n    hop(c).await;\n    a.await; b.await\n}\n\
                    #[cfg(test)]\nmod tests { fn g() { x.await } }\n";
        assert_eq!(Counts::of(text), Counts { lines: 4, awaits: 3, colored: 1 });
    }
}
