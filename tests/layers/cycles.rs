//! Whether the files of a crate need one another in a cycle.

use super::layering::Crate;
use super::names::{Named, Names, module_of};
use super::source::Source;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// By file, the files that it needs, each with the line and the name that needs it first.
type Needs = BTreeMap<String, BTreeMap<String, (usize, String)>>;

/// The faults of these files, one for each group of files that need one another.
pub(crate) fn faults(of: &Crate, files: &[(String, Source)]) -> Vec<String> {
    let needs = needs(files);
    let mut faults = Vec::new();
    let mut told = BTreeSet::new();
    for file in needs.keys() {
        let there = reached(&needs, file);
        let group: Vec<_> = there
            .into_iter()
            .filter(|other| reached(&needs, other).contains(file.as_str()))
            .collect();
        if group.is_empty() || !told.insert(group.clone()) {
            continue;
        }
        let mut fault =
            format!("{}: {} files need one another: {}", of.sources, group.len(), group.join(", "));
        let cycles = group.iter().filter_map(|file| cycle(&needs, file));
        let cycle = cycles.min_by_key(Vec::len).expect("each of them is in a cycle");
        for (from, to) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
            let (line, name) = &needs[*from][*to];
            fault += &format!("\n    {from}:{line}: `{name}` is in {to}");
        }
        fault +=
            "\n    Move what both need into a file below both, or make one a child of the other.";
        faults.push(fault);
    }
    faults
}

/// What each file needs. The root, where all comes together, needs nothing here. No file needs the
/// modules around it, nor an item that it only re-exports.
fn needs(files: &[(String, Source)]) -> Needs {
    let names = Names::of(files);
    let mut needs = Needs::new();
    for (file, source) in &names.files {
        let (place, needs) = (module_of(file), needs.entry(file.clone()).or_default());
        let own_names = source.own_names();
        for path in source.paths() {
            let is_reexport_only = path.import.as_ref().is_some_and(|import| {
                import.is_reexport && !own_names.contains(import.name.as_str())
            });
            if place.is_empty() || is_reexport_only {
                continue;
            }
            for named in names.find(file, &path.inside, &path.segments) {
                // The import of a module makes no edge: the paths through it do.
                let Named::Item { file: other, .. } = named else { continue };
                if !place.starts_with(&module_of(&other)) {
                    needs.entry(other).or_insert_with(|| (path.line, path.to_string()));
                }
            }
        }
    }
    needs
}

/// The files that this one needs, and those that they need.
fn reached<'a>(needs: &'a Needs, file: &'a str) -> BTreeSet<&'a str> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![file]);
    while let Some(file) = next.pop() {
        let needed = needs[file].keys().map(String::as_str);
        next.extend(needed.filter(|other| reached.insert(*other)));
    }
    reached
}

/// A shortest way from the file back to it, if there is one.
fn cycle<'a>(needs: &'a Needs, file: &'a str) -> Option<Vec<&'a str>> {
    let (mut seen, mut ways) = (BTreeSet::new(), VecDeque::from([vec![file]]));
    while let Some(way) = ways.pop_front() {
        for other in needs[way[way.len() - 1]].keys() {
            if other == file {
                return Some(way);
            }
            if seen.insert(other) {
                ways.push_back([&way[..], &[other.as_str()]].concat());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADE_UP: Crate = Crate { sources: "made/up", layers: &[], exceptions: &[], impls: &[] };
    const ADVICE: &str =
        "\n    Move what both need into a file below both, or make one a child of the other.";

    fn faults_of(files: &[(&str, &str)]) -> Vec<String> {
        let files = [("main.rs", "")].iter().chain(files);
        let files = files.map(|(file, text)| ((*file).to_owned(), Source::parse(text)));
        faults(&MADE_UP, &files.collect::<Vec<_>>())
    }

    #[test]
    fn a_cycle_is_a_fault_with_its_lines() {
        let files = [
            ("wall.rs", "\nuse crate::window::{\n    Pane as Glass,\n};\npub struct Brick(Glass);"),
            ("window.rs", "pub struct Pane; fn f() {\n    super::wall::Brick }"),
        ];
        let expected = "made/up: 2 files need one another: wall.rs, window.rs\
            \n    wall.rs:3: `crate::window::Pane` is in window.rs\
            \n    window.rs:2: `super::wall::Brick` is in wall.rs";
        assert_eq!(faults_of(&files), [expected.to_owned() + ADVICE]);
    }

    #[test]
    fn the_shortest_cycle_of_a_group_is_told() {
        let files = [
            ("a.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use crate::c::C; pub struct B;"),
            ("c.rs", "use crate::{a::A, d::D}; pub struct C;"),
            ("d.rs", "use crate::c; pub struct D; fn f() { c::C }"),
        ];
        let expected = "made/up: 4 files need one another: a.rs, b.rs, c.rs, d.rs\
            \n    c.rs:1: `crate::d::D` is in d.rs\
            \n    d.rs:1: `c::C` is in c.rs";
        assert_eq!(faults_of(&files), [expected.to_owned() + ADVICE]);
    }

    #[test]
    fn a_cycle_through_reexports_is_found() {
        let files = [
            ("lib.rs", "mod house; pub use self::house::Tile as Slate;"),
            (
                "house.rs",
                "mod roof; mod wall; pub use self::roof::*; pub(crate) use self::wall::Wall;",
            ),
            ("house/roof.rs", "use super::Wall; pub struct Tile(Wall);"),
            ("house/wall.rs", "pub struct Wall; fn f(tile: crate::Slate) {}"),
        ];
        let expected = "made/up: 2 files need one another: house/roof.rs, house/wall.rs\
            \n    house/roof.rs:1: `super::Wall` is in house/wall.rs\
            \n    house/wall.rs:1: `crate::Slate` is in house/roof.rs";
        assert_eq!(faults_of(&files), [expected.to_owned() + ADVICE]);
    }

    #[test]
    fn an_own_use_of_a_reexport_counts() {
        let files = |body: &str| {
            let house = format!("pub use self::roof::Tile; {body}");
            let roof = "use crate::wall::Wall; pub struct Tile;";
            let wall = "use crate::house::Floor; pub struct Wall;";
            faults_of(&[("house.rs", &house), ("house/roof.rs", roof), ("wall.rs", wall)])
        };
        assert_eq!(files("pub struct Floor; fn f() { g.Tile }"), [""; 0]);
        let expected = "made/up: 3 files need one another: house.rs, house/roof.rs, wall.rs\
            \n    house.rs:1: `self::roof::Tile` is in house/roof.rs\
            \n    house/roof.rs:1: `crate::wall::Wall` is in wall.rs\
            \n    wall.rs:1: `crate::house::Floor` is in house.rs";
        assert_eq!(files("pub struct Floor(Tile);"), [expected.to_owned() + ADVICE]);
    }

    #[test]
    fn parents_roots_tests_and_models_are_in_no_cycle() {
        let files = [
            ("lib.rs", "mod a; mod c; use self::a::A; pub struct Root; #[cfg(test)] mod probe;"),
            ("a.rs", "mod b; use self::b::B; pub struct A(B); use crate::Root;"),
            ("a/b.rs", "use super::A; use crate::Root; pub struct B(A); fn f() { crate::a::A }"),
            ("a/b/below.rs", "fn f() { crate::a::A }"),
            ("c.rs", "pub struct C; #[cfg(all(test, not(loom)))] mod tests { use crate::d::D; }"),
            ("d.rs", "use crate::c::C; pub struct D; #[cfg(test)] use crate::probe::Probe;"),
            ("probe.rs", "use crate::c::C; use crate::probe::deep::F; pub struct Probe;"),
            ("probe/deep.rs", "use crate::probe::other::G; pub struct F;"),
            ("probe/other.rs", "use crate::probe::deep::F; pub struct G;"),
            ("queue_model.rs", "use crate::model::M; pub struct Q;"),
            ("model.rs", "use crate::queue_model::Q; pub struct M;"),
        ];
        assert_eq!(faults_of(&files), [""; 0]);
    }
}
