//! What the pages say beside what the code has: files, features, figures.

use super::{assert_none, links, root, sources};
use std::collections::BTreeSet;
use std::fs;

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// What stands in backticks.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The part of a page from one text up to another.
fn part<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("there is no {from:?}"));
    rest.split_once(to).map_or(rest, |(part, _)| part)
}

#[test]
fn files_that_the_pages_name_exist() {
    let folders = ["benches", "crates", "examples", "tests"];
    let below =
        |folder| sources(folder).into_iter().map(move |(file, _)| format!("/{folder}/{file}"));
    let files: Vec<_> = folders.into_iter().flat_map(below).collect();
    let exists = |name: &str| match name.split_once('*') {
        Some((before, after)) => {
            let before = format!("/{before}");
            files.iter().any(|file| file.ends_with(after) && file.contains(&before))
        }
        None => files.iter().any(|file| file.ends_with(&format!("/{name}"))),
    };
    let (mut faults, mut count) = (Vec::new(), 0);
    for page in links::pages() {
        let text = fs::read_to_string(&page).expect("the page can be read");
        let is_file = |name: &&str| name.ends_with(".rs") && name.contains('/');
        for name in names(&text).filter(is_file).filter(|name| !name.contains([' ', '{'])) {
            count += 1;
            if !exists(name) {
                faults.push(format!("{}: there is no `{name}`", page.display()));
            }
        }
    }
    assert!(count > 100, "{count} files: the pages have another form now");
    assert_none(faults);
}

/// Nothing is published yet: a version in a snippet would be that of another package, or none.
#[test]
fn snippets_name_a_path() {
    let is_snippet = |line: &&str| {
        line.contains("package = \"colored-rt") || line.contains("colored-sim-libc = ")
    };
    let (mut faults, mut count) = (Vec::new(), 0);
    let mut check = |place: &str, text: &str| {
        for line in text.lines().filter(is_snippet) {
            count += 1;
            if line.contains("version = ") || line.contains("= \"") && !line.contains('{') {
                faults.push(format!("{place}: {line}"));
            }
        }
    };
    for page in links::pages() {
        check(&page.display().to_string(), &fs::read_to_string(&page).expect("it can be read"));
    }
    for (file, _) in sources("crates") {
        let text = fs::read_to_string(root().join("crates").join(file)).expect("it can be read");
        let documentation = text.lines().filter(|line| line.trim_start().starts_with("//"));
        check(file, &documentation.collect::<Vec<_>>().join("\n"));
    }
    assert!(count > 10, "{count} snippets: they have another form now");
    assert_none(faults);
}

/// Names such as `Builder::workers`: the code has such a function, constant or field.
#[test]
fn methods_that_the_pages_name_exist() {
    const TYPES: [&str; 11] = [
        "Builder",
        "Tuning",
        "Handle",
        "Runtime",
        "Color",
        "ColorCell",
        "Limit",
        "LimitedCell",
        "Metrics",
        "Report",
        "PinnedCell",
    ];
    let read = |folder: &'static str| {
        sources(folder).into_iter().map(move |(file, _)| page(&format!("{folder}/{file}")))
    };
    let code: String = read("crates").collect();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: Vec<_> = code.split(|c| !is_part(c)).filter(|word| !word.is_empty()).collect();
    let pairs = words.windows(2).filter(|pair| ["fn", "const", "pub"].contains(&pair[0]));
    let defined: BTreeSet<_> = pairs.map(|pair| pair[1]).collect();
    let (mut faults, mut count) = (Vec::new(), 0);
    for page in links::pages() {
        let text = fs::read_to_string(&page).expect("the page can be read");
        let paths = names(&text).filter_map(|name| name.rsplit_once("::"));
        for (of, method) in paths.filter(|(of, _)| TYPES.iter().any(|known| of.ends_with(known))) {
            let method = method.split(|c| !is_part(c)).next();
            let method = method.unwrap_or_default();
            count += 1;
            if !defined.contains(method) {
                faults.push(format!("{}: there is no `{of}::{method}`", page.display()));
            }
        }
    }
    assert!(count > 60, "{count} names: the pages have another form now");
    assert_none(faults);
}

#[test]
fn the_page_of_the_package_lists_its_features() {
    let manifest = page("crates/colored/Cargo.toml");
    let features = part(&manifest, "[features]\n", "\n[");
    let features = features.lines().filter(|line| !line.starts_with('#'));
    let features = features.filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    let text = page("crates/colored/README.md");
    let is_missing = |name: &&str| *name != "default" && !text.contains(&format!("\n| `{name}` |"));
    let missing: Vec<_> = features.filter(is_missing).collect();
    assert!(missing.is_empty(), "crates/colored/README.md lacks the features {missing:?}");
}

/// The table of invariants on the core's front page has their models in its last column.
#[test]
fn the_models_of_the_front_page_exist() {
    let text = page("crates/colored-core/src/lib.rs");
    let rows = text.lines().filter(|line| line.starts_with("//! | **G"));
    let column = |row: &str| row.rsplit(" | ").next().unwrap_or_default().to_owned();
    let models: BTreeSet<_> =
        rows.flat_map(|row| names(&column(row)).map(str::to_owned).collect::<Vec<_>>()).collect();
    assert!(models.len() > 10, "{models:?}: the table has another form now");
    let file = |model: &str| model.split("::").next().unwrap_or_default().to_owned();
    let exists = |model: &&String| {
        root().join(format!("crates/colored-core/src/model/{}.rs", file(model))).exists()
    };
    let missing: Vec<_> = models.iter().filter(|model| !exists(model)).collect();
    assert!(missing.is_empty(), "there are no models {missing:?}");
}

/// The core's front page names the files in which a total order is needed.
#[test]
fn the_front_page_names_the_fences() {
    let text = page("crates/colored-core/src/lib.rs");
    let named: BTreeSet<_> = names(part(&text, "need a total order", "Reference counts"))
        .filter(|name| name.ends_with(".rs"))
        .collect();
    let folder = "crates/colored-core/src";
    let has_fence =
        |file: &str| page(&format!("{folder}/{file}")).contains("fence(Ordering::SeqCst)");
    let fences: BTreeSet<_> = sources(folder)
        .into_iter()
        .map(|(file, _)| file)
        .filter(|file| !file.starts_with("model") && !file.starts_with("sync") && has_fence(file))
        .collect();
    assert_eq!(named, fences, "files with `fence(SeqCst)`: on the page, in the code");
}

/// The block that a program has written into a page.
fn block(name: &str, of: &str) -> String {
    part(&page(name), &format!("<!-- measured: {of} -->"), "<!-- end -->").to_owned()
}

/// By the mark behind a figure of `docs/costs.md`, where it stands, and whether with its unit.
fn tables() -> [(&'static str, String, bool); 5] {
    let papers = |blocks: &[&str]| {
        blocks.iter().map(|of| block("benches/papers/results/papers.md", of)).collect::<String>()
    };
    let beside_tokio = part(&page("docs/benchmarks.md"), "\n## Beside tokio\n", "\n## ").to_owned();
    [
        ("(R", beside_tokio, true),
        ("(P", block("benches/peers/results/peers.md", "peers"), true),
        ("(E", papers(&["when_one", "bank", "sleeps"]), false),
        ("(O", papers(&["operations"]), false),
        ("(X", papers(&["staged", "files"]), false),
    ]
}

/// Figures that are said to be of a table stand in the table.
#[test]
fn figures_are_those_of_their_tables() {
    let (tables, mut claims, mut faults) = (tables(), Vec::new(), Vec::new());
    for row in page("docs/costs.md").lines().filter(|line| line.starts_with("| ")) {
        for table in &tables {
            for (before, _) in row.match_indices(table.0).map(|(at, _)| row.split_at(at)) {
                // The figures between the mark and the one before it, or the begin of the cell.
                let cell = before.rsplit(['|', ')']).next().unwrap_or_default();
                claims.extend(figures(cell).into_iter().map(|figure| ("costs.md", figure, table)));
            }
        }
        // Each figure has a mark: no other text is between it and the next one.
        let measured = row.split('|').nth(2).unwrap_or_default();
        let unmarked = measured.rsplit(')').next().map(figures).unwrap_or_default();
        faults.extend(unmarked.iter().map(|figure| format!("costs.md: {figure} has no mark")));
    }
    let readme = page("README.md");
    let rows = part(&readme, "\n## How fast\n", "\n\n`colored`");
    claims.extend(figures(rows).into_iter().map(|figure| ("README.md", figure, &tables[0])));
    assert!(claims.len() > 50, "{} figures: the pages have another form now", claims.len());
    for (page, figure, (mark, table, with_unit)) in claims {
        let number = figure.split(' ').next().unwrap_or_default();
        if !has(table, if *with_unit { &figure } else { number }) {
            faults.push(format!("{page}: no table of {mark}) has {figure}"));
        }
    }
    assert_none(faults);
}

/// The numbers with units in a text, such as `5.9 µs`.
fn figures(text: &str) -> Vec<String> {
    let words: Vec<_> =
        text.split_whitespace().map(|word| word.trim_matches([',', ';', ':'])).collect();
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let unit = |word| match word {
        "bytes" | "B" => Some("B"),
        "ns" | "µs" | "ms" => Some(word),
        _ => None,
    };
    let pairs = words.windows(2).filter(|pair| is_number(pair[0]));
    pairs.filter_map(|pair| Some(format!("{} {}", pair[0], unit(pair[1])?))).collect()
}

/// Whether a text has the figure, and not as a part of a longer number.
fn has(text: &str, figure: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    text.match_indices(figure).any(|(at, _)| {
        let after = text[at + figure.len()..].trim_start_matches(['.', ',']);
        !text[..at].ends_with(is_part) && !after.starts_with(|c: char| c.is_ascii_digit())
    })
}

#[test]
fn figures_are_found() {
    assert_eq!(figures("128 bytes, 243 bytes (R)"), ["128 B", "243 B"]);
    assert_eq!(figures("| 17 ns on one core, 6.6 ns over two"), ["17 ns", "6.6 ns"]);
    assert!(has("| 5.9 µs |", "5.9 µs") && !has("| 15.9 µs |", "5.9 µs"));
    assert!(has("| 26 | 30.1 |", "26") && !has("| 26.1 |", "26") && !has("| 1,026 |", "26"));
}

/// The tables of the tree name each package's folder, and each workspace beside this one.
#[test]
fn the_tables_of_the_tree_are_whole() {
    let text = page("CONTRIBUTING.md");
    let tree = part(&text, "## The tree", "\n## ");
    let named: BTreeSet<_> = names(tree).map(str::to_owned).collect();
    let folders = |parent: &str| {
        let entries = fs::read_dir(root().join(parent)).expect("the folder is there");
        let entries = entries.map(|entry| entry.expect("it can be read"));
        let packages = entries.filter(|entry| entry.path().join("Cargo.toml").is_file());
        let name = |entry: fs::DirEntry| format!("{parent}/{}", entry.file_name().display());
        packages.map(name).collect::<Vec<_>>()
    };
    let manifest = page("Cargo.toml");
    let beside = names_in_quotes(part(&manifest, "exclude = [", "]"));
    let missing: Vec<_> =
        folders("crates").into_iter().chain(beside).filter(|name| !named.contains(name)).collect();
    assert!(missing.is_empty(), "CONTRIBUTING.md lacks {missing:?}");
    let gone: Vec<_> = named.iter().filter(|name| name.contains('/')).collect();
    let gone: Vec<_> = gone.into_iter().filter(|name| !root().join(name).exists()).collect();
    assert!(gone.is_empty(), "CONTRIBUTING.md names {gone:?}, which are gone");
}

fn names_in_quotes(text: &str) -> impl Iterator<Item = String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned)
}
