//! Writes tokio's tests for this runtime: a module for each file, all in one program.

use super::{Outcome, Outcomes};
use std::fs;
use std::path::Path;

pub(crate) fn generate(tokio: &Path, to: &Path, expected: &Outcomes) {
    let tests = tokio.join("tests");
    let mut names: Vec<String> = entries(&tests)
        .into_iter()
        .filter_map(|name| name.strip_suffix(".rs").map(String::from))
        .collect();
    names.sort();
    let mut main = String::from("#![allow(warnings)]\n");
    for name in names {
        if expected.get(&name) == Some(Outcome::Absent) {
            continue;
        }
        let text = fs::read_to_string(tests.join(format!("{name}.rs"))).unwrap();
        let mut text = rewritten(&text, &name);
        for absent in expected.of(Outcome::Absent) {
            if let Some(path) = absent.strip_prefix(&format!("{name}::")) {
                text = without(&text, path).unwrap_or_else(|| panic!("{absent} is not there"));
            }
        }
        let folder = to.join(&name);
        fs::create_dir_all(folder.join("support")).unwrap();
        write(&folder.join("mod.rs"), &text);
        for support in entries(&tests.join("support")) {
            let text = fs::read_to_string(tests.join("support").join(&support)).unwrap();
            write(&folder.join("support").join(&support), &rewritten(&text, &name));
        }
        main += &format!("mod {name};\n");
    }
    write(&to.join("main.rs"), &main);
}

/// Writes it if it is another text, so that nothing is compiled again for nothing.
fn write(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::write(path, text).unwrap();
    }
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// `colored` in place of `tokio`, and the module of the file in place of its crate.
fn rewritten(text: &str, module: &str) -> String {
    // Not in texts whose length a test knows, nor in the address of a page, which a test looks for in tokio's manifest.
    let text = text.replace("tokio.rs", "tokio_rs").replace("tokio!", "tokio_!");
    let text = replace_word(&text, "tokio", "", "colored");
    let text = text.replace("tokio_rs", "tokio.rs").replace("tokio_!", "tokio!");
    // A private name of std's.
    let text = text.replace("colored::macros::support::poll_fn", "std::future::poll_fn");
    // It starts a runtime of tokio's.
    let text = text
        .replace("tokio_test::block_on(", "colored::runtime::Runtime::new().unwrap().block_on(");
    replace_word(&text, "crate", "::", &format!("crate::{module}"))
}

/// Replaces a word that is no part of another, is not behind a `$`, and stands before `follows`.
fn replace_word(text: &str, word: &str, follows: &str, with: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, behind) = (&rest[..at], &rest[at + word.len()..]);
        let is_whole = !before.ends_with(is_part) && !behind.starts_with(is_part);
        result += before;
        result += if is_whole && behind.starts_with(follows) { with } else { word };
        rest = behind;
    }
    result + rest
}

/// Leaves out a function or a module, by its path in the file, or the item with a text, if that is no path.
fn without(text: &str, path: &str) -> Option<String> {
    let at = if path.contains(['(', ' ']) { text.find(path)? } else { item(text, path)? };
    let line = first_line(text, at);
    Some(format!("{}#[cfg(any())]\n{}", &text[..line], &text[line..]))
}

/// Where the item of this path begins, behind its attributes.
fn item(text: &str, path: &str) -> Option<usize> {
    let mut at = 0;
    for part in path.split("::") {
        let rest = &text[at..];
        at += position(rest, &format!("mod {part} {{"))
            .or_else(|| position(rest, &format!("fn {part}")))?;
    }
    Some(at)
}

/// Where it stands, and is not the beginning of a longer name.
fn position(text: &str, wanted: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let ends = |at: &usize| !text[at + wanted.len()..].starts_with(is_part);
    text.match_indices(wanted).map(|(at, _)| at).find(ends)
}

/// The begin of the line where the attributes of an item begin.
fn first_line(text: &str, item: usize) -> usize {
    let mut line = text[..item].rfind('\n').map_or(0, |at| at + 1);
    while line > 0 {
        let before = text[..line - 1].rfind('\n').map_or(0, |at| at + 1);
        let above = text[before..line].trim();
        if above.is_empty() || above.ends_with(['}', '{', ';']) || above.starts_with("#![") {
            break;
        }
        line = before;
    }
    line
}
