//! Table 3: the lines and the branches of the code with which each mode of the server reaches its files.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

/// The functions of a file, or all of it.
enum Part {
    File(&'static str),
    Functions(&'static str, &'static [&'static str]),
}

/// The parts that a mode has, in the order of the table.
const MODES: [(&str, &[Part]); 5] = [
    ("lazy", &[Part::Functions("access.rs", &["load_lazily"])]),
    ("blocking", &[Part::Functions("access.rs", &["load", "read_at"])]),
    ("aio", &[Part::File("aio.rs")]),
    ("amped", &[Part::File("helpers.rs"), Part::Functions("access.rs", AMPED)]),
    ("pool", &[Part::Functions("access.rs", &["in_pool", "load", "read_at"])]),
];

const AMPED: &[&str] = &["load", "read_at", "read_resident"];

/// The lines with code in them, and the branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) lines: usize,
    pub(super) branches: usize,
}

type Counts = (Vec<(&'static str, Count)>, Count);

/// The counts of each mode, in the order of the table, and of the whole server with all modes.
pub(super) fn counts() -> Result<Counts, Box<dyn Error>> {
    let mut modes = Vec::new();
    for (mode, parts) in MODES {
        let mut sum = Count::default();
        for part in parts {
            match part {
                Part::File(file) => sum.add(count(&code(&read(file)?))),
                Part::Functions(file, names) => {
                    let text = read(file)?;
                    let code = code(&text);
                    for name in *names {
                        let function = function(&code, name);
                        sum.add(count(function.ok_or(format!("{file} has no fn {name}"))?));
                    }
                }
            }
        }
        modes.push((mode, sum));
    }
    let mut all = Count::default();
    for entry in fs::read_dir(folder())? {
        all.add(count(&code(&fs::read_to_string(entry?.path())?)));
    }
    Ok((modes, all))
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../httpd/src"))
}

fn read(file: &str) -> Result<String, Box<dyn Error>> {
    let path = folder().join(file);
    Ok(fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?)
}

/// The lines of a file without comments, empty lines, and tests.
fn code(text: &str) -> Vec<&str> {
    let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    lines.filter(is_code).collect()
}

/// The lines of a function outside of any other, from its first line to its brace.
fn function<'a, 'b>(code: &'b [&'a str], name: &str) -> Option<&'b [&'a str]> {
    let start = format!("fn {name}");
    let is_start = |line: &&str| {
        let rest = line.split_once(start.as_str()).map(|(_, rest)| rest);
        !line.starts_with(' ') && rest.is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    let begin = code.iter().position(is_start)?;
    let len = code[begin..].iter().position(|line| *line == "}")?;
    Some(&code[begin..=begin + len])
}

/// Branches are `if`, loops, `?`, and the arms of `match`.
fn count(code: &[&str]) -> Count {
    let branches = |line: &&str| {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let is_branch = |word: &&str| ["if", "while", "loop"].contains(word);
        let is_loop = line.trim_start().starts_with("for ") && line.contains(" in ");
        let is_end = |rest: &&str| rest.is_empty() || rest.starts_with([';', '.', ',', ')', ' ']);
        words.filter(is_branch).count()
            + usize::from(is_loop)
            + line.split('?').skip(1).filter(is_end).count()
            + line.matches(" => ").count()
    };
    Count { lines: code.len(), branches: code.iter().map(branches).sum() }
}

impl Count {
    fn add(&mut self, other: Count) {
        self.lines += other.lines;
        self.branches += other.branches;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! A file.

fn one(a: u8) -> io::Result<()> {
    // A comment.
    if a > 0 {
        two(\"?\")?;
    }
    match a {
        0 => {}
        _ => other(a)?,
    }
}

fn one_more<T>() {
    for _ in 0..3 {}
}

#[cfg(test)]
mod tests {
    fn one() {}
}
";

    #[test]
    fn lines_and_branches_of_a_function() {
        let code = code(TEXT);
        let counted = |name| function(&code, name).map(count);
        assert_eq!(counted("one"), Some(Count { lines: 9, branches: 5 }));
        assert_eq!(counted("one_more"), Some(Count { lines: 3, branches: 1 }));
        assert_eq!(counted("two"), None);
    }

    #[test]
    fn every_mode_has_its_code() {
        let (modes, all) = counts().unwrap();
        for ((mode, count), (swept, _)) in modes.iter().zip(crate::sweep::MODES) {
            assert_eq!(*mode, swept);
            assert!(count.lines > 0 && count.branches > 0 && count.lines < all.lines, "{mode}");
        }
    }
}
