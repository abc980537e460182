//! The guarantees of `docs/guarantees.md`, and the tests that show them: a line `/// Shows G1, G7.` above a test.

use super::{assert_none, links, root, sources};
use std::collections::BTreeMap;
use std::fs;

/// The titles of the guarantees, such as `G1 Exclusion`, in the order of the page.
fn titles(page: &str) -> Vec<&str> {
    page.lines()
        .filter_map(|line| line.strip_prefix("## "))
        .filter(|t| number(t).is_some())
        .collect()
}

/// By guarantee, the tests of this file that show it.
fn shown(text: &str) -> Result<BTreeMap<usize, Vec<&str>>, String> {
    let mut found = BTreeMap::<_, Vec<_>>::new();
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    for (index, line) in lines.iter().enumerate() {
        let Some(names) = line.strip_prefix("/// Shows G") else { continue };
        let test = test_below(&lines[index + 1..])
            .ok_or_else(|| format!("line {}: there is no test below {line:?}", index + 1))?;
        for name in format!("G{}", names.trim_end_matches('.')).split(", ") {
            let number = number(name)
                .filter(|number| name == format!("G{number}"))
                .ok_or_else(|| format!("line {}: {name:?} is no guarantee", index + 1))?;
            found.entry(number).or_default().push(test);
        }
    }
    Ok(found)
}

/// The number of the guarantee whose name a text begins with.
fn number(text: &str) -> Option<usize> {
    text.split(' ').next()?.strip_prefix('G')?.parse().ok()
}

/// The name of the test that the lines begin with, after its attributes and comments.
fn test_below<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let is_before = |line: &&&str| line.starts_with('#') || line.starts_with("//");
    let before = lines.iter().take_while(is_before).count();
    let is_test = lines[..before].iter().any(|line| *line == "#[test]");
    let (name, _) = lines.get(before)?.strip_prefix("fn ")?.split_once('(')?;
    is_test.then_some(name)
}

/// The guarantees that a page of prose counts or names, and that are not there.
fn miscounted(page: &str, count: usize) -> Vec<String> {
    const WORDS: [&str; 8] =
        ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"];
    let mut faults = Vec::new();
    let words: Vec<_> =
        page.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    for (index, word) in words.iter().enumerate() {
        let named = word.strip_prefix('G').and_then(|number| number.parse::<usize>().ok());
        let ends_the_range = index > 1 && words[index - 1] == "to" && words[index - 2] == "G1";
        if named.is_some_and(|number| {
            number == 0 || number > count || (ends_the_range && number != count)
        }) {
            faults.push(format!("{word}, and there are {count} guarantees"));
        }
        let counted = WORDS.iter().position(|known| known == word).map(|place| place + 10);
        let next = words.get(index + 1).copied().unwrap_or_default();
        if counted.is_some_and(|counted| counted != count) && next.starts_with("guarantee") {
            faults.push(format!("{word} guarantees, and there are {count}"));
        }
    }
    faults
}

/// Prints each guarantee with its tests.
#[test]
fn all_guarantees_have_tests() {
    let page = fs::read_to_string(root().join("docs/guarantees.md")).expect("the page is there");
    let titles = titles(&page);
    let mut tests = vec![String::new(); titles.len()];
    let mut faults = Vec::new();
    for folder in ["benches", "crates", "tests"] {
        for (file, _) in sources(folder) {
            let file = format!("{folder}/{file}");
            let text = fs::read_to_string(root().join(&file)).expect("the file can be read");
            for (guarantee, names) in shown(&text).unwrap_or_else(|fault| {
                faults.push(format!("{file}, {fault}"));
                BTreeMap::new()
            }) {
                match tests.get_mut(guarantee.wrapping_sub(1)) {
                    Some(lines) => lines.push_str(&format!("  {file}: {}\n", names.join(", "))),
                    None => faults.push(format!("{file}: there is no G{guarantee}")),
                }
            }
        }
    }
    for (index, (title, tests)) in titles.iter().zip(&tests).enumerate() {
        println!("{title}\n{tests}");
        if !title.starts_with(&format!("G{} ", index + 1)) {
            faults.push(format!("{title}: it is number {}", index + 1));
        }
        if tests.is_empty() {
            faults.push(format!("{title}: no test shows it"));
        }
    }
    for page in links::pages() {
        let text = fs::read_to_string(&page).expect("the page can be read");
        let wrong = miscounted(&text, titles.len());
        faults.extend(wrong.iter().map(|fault| format!("{}: {fault}", page.display())));
    }
    assert_none(faults);
}

#[test]
fn marks_of_tests_are_read() {
    let text = "/// Text.\n/// Shows G1, G12.\n#[test]\n#[should_panic(expected = \"x\")]\nfn a() {}\n\n\
                mod b {\n    /// Shows G1.\n    // A comment.\n    #[test]\n    fn c() {}\n}\n";
    let expected = BTreeMap::from([(1, vec!["a", "c"]), (12, vec!["a"])]);
    assert_eq!(shown(text), Ok(expected));
    assert!(shown("/// Shows G1.\nfn helper() {}\n").is_err());
    assert!(shown("/// Shows G1 and G2.\n#[test]\nfn a() {}\n").is_err());
    assert_eq!(titles("# Title\n## G1 One\n## Words\n## G2 Two\n"), ["G1 One", "G2 Two"]);
}

#[test]
fn false_counts_are_found() {
    assert_eq!(
        miscounted("G1 to G14 are fourteen guarantees; G8 (G14), ten figures.", 14),
        [""; 0]
    );
    assert_eq!(miscounted("G1 to G13", 14).len(), 1);
    assert_eq!(miscounted("thirteen guarantees of G15", 14).len(), 2);
}
