//! No modules of the core import each other in a cycle, and the kernel knows no extension: it imports none, and calls no
//! method that one adds to its types.
//!
//! A module is a file here. What a file re-exports belongs to the module of its origin, and a re-export is no import: so the
//! first page of a folder leads to the folder's files, and these do not stand on the page. The root is such a page too.

use super::source::{Method, Source, UsePath};
use super::{assert_none, is_of_tests, sources};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(crate) const CORE: &str = "crates/colored-core/src";

/// A module, by its path from the root.
type Module = Vec<String>;

fn module_of(file: &str) -> Module {
    let path = file.strip_suffix(".rs").expect("a Rust file");
    path.split('/').filter(|part| *part != "lib").map(str::to_owned).collect()
}

/// The files of a crate, and what they re-export.
struct Modules<'a> {
    sources: BTreeMap<Module, &'a Source>,
    /// By module, the names that it re-exports and the paths that these have.
    reexports: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
}

impl<'a> Modules<'a> {
    fn new(files: &[(&str, &'a Source)]) -> Self {
        let sources: BTreeMap<_, _> =
            files.iter().map(|(file, source)| (module_of(file), *source)).collect();
        let mut reexports = BTreeMap::<Module, BTreeMap<_, _>>::new();
        for (module, source) in &sources {
            for path in source.paths().iter().filter(|path| path.is_reexport) {
                if let Some((name, full)) = from_the_root(path, module) {
                    reexports.entry(module.clone()).or_default().insert(name, full);
                }
            }
        }
        Self { sources, reexports }
    }

    /// The module in which the item of this path is, followed through re-exports.
    fn origin(&self, path: &[String]) -> Option<Module> {
        let mut path = path.to_vec();
        // As many steps as there are pages on the way; a name that leads to itself ends it.
        for _ in 0..8 {
            let found =
                (0..=path.len()).rev().find(|end| self.sources.contains_key(&path[..*end]))?;
            let next =
                path.get(found).and_then(|name| self.reexports.get(&path[..found])?.get(name));
            let Some(next) = next else { return Some(path[..found].to_vec()) };
            path = [&next[..], &path[found + 1..]].concat();
        }
        None
    }

    /// The module that a path names, which may re-export the item.
    fn named(&self, path: &[String]) -> Module {
        let found = (0..=path.len()).rev().find(|end| self.sources.contains_key(&path[..*end]));
        path[..found.unwrap_or(0)].to_vec()
    }

    /// The paths from the root that a module imports, or names, each with a line.
    fn paths(&self, module: &Module) -> Vec<(Vec<String>, usize)> {
        let paths = self.sources[module].paths();
        let of_tests = |path: &UsePath| path.inside.iter().any(|inside| inside == "tests");
        let uses = paths.iter().filter(|path| !path.is_reexport && !of_tests(path));
        // Names of this file that stand for modules: those that it imports, and its own children.
        let mut names: BTreeMap<_, _> = uses
            .clone()
            .filter(|path| path.is_import)
            .filter_map(|path| from_the_root(path, module))
            .collect();
        for child in self.sources.keys().filter(|child| child.len() == module.len() + 1) {
            if child.starts_with(module) {
                names.insert(child[module.len()].clone(), child.clone());
            }
        }
        let full = |path: &UsePath| match from_the_root(path, module) {
            Some((_, full)) => Some((full, path.line)),
            None => {
                let known = names.get(&path.segments[0])?;
                Some(([&known[..], &path.segments[1..]].concat(), path.line))
            }
        };
        uses.filter_map(full).collect()
    }

    /// The modules that one imports from, each with a line.
    fn imports(&self, module: &Module) -> BTreeMap<Module, usize> {
        let origins = self.paths(module).into_iter();
        let origins = origins.filter_map(|(path, line)| Some((self.origin(&path)?, line)));
        origins.filter(|(to, _)| to != module && !to.is_empty()).collect()
    }
}

/// The name that a path ends with, and the path from the root; none if it leads out of the crate.
fn from_the_root(path: &UsePath, module: &Module) -> Option<(String, Vec<String>)> {
    let mut segments: VecDeque<_> = path.segments.iter().cloned().collect();
    let mut full = match segments.pop_front()?.as_str() {
        "crate" => Vec::new(),
        "self" => [&module[..], &path.inside[..]].concat(),
        "super" => {
            let mut full = [&module[..], &path.inside[..]].concat();
            full.pop()?;
            while segments.front().is_some_and(|segment| segment == "super") {
                segments.pop_front();
                full.pop()?;
            }
            full
        }
        _ => return None,
    };
    if segments.back().is_some_and(|last| last == "self") {
        segments.pop_back();
    }
    full.extend(segments);
    Some((path.alias.clone().or_else(|| full.last().cloned())?, full))
}

/// The cycles, each by the shortest way around it, and what the lower shelf names of the upper one. What the seam re-exports
/// from there belongs to the seam.
fn faults(files: &[(&str, &Source)], below: &str, above: &str) -> Vec<String> {
    let modules = Modules::new(files);
    let imports: BTreeMap<_, _> = modules
        .sources
        .keys()
        .filter(|module| !module.is_empty())
        .map(|module| (module.clone(), modules.imports(module)))
        .collect();
    let mut cycles = BTreeSet::new();
    for module in imports.keys() {
        if let Some(mut way) = way_back(&imports, module) {
            let least = (0..way.len()).min_by_key(|at| way[*at].clone()).expect("it has a begin");
            way.rotate_left(least);
            cycles.insert(way);
        }
    }
    let show = |module: &Module| module.join("::");
    let text = |way: &Vec<Module>| {
        let way: Vec<_> = way.iter().map(show).collect();
        format!("a cycle: {} -> {}", way.join(" -> "), way[0])
    };
    let mut faults: Vec<_> = cycles.iter().map(text).collect();
    for module in imports.keys().filter(|module| module[0] == below) {
        let named = modules.paths(module).into_iter();
        let named = named.map(|(path, line)| (modules.named(&path), line));
        let up = named.filter(|(to, _)| to.first().is_some_and(|first| first == above));
        faults.extend(
            up.map(|(to, line)| {
                format!("{}:{line}: `{}` is of `{above}`", show(module), show(&to))
            }),
        );
    }
    faults
}

/// The methods that the upper shelf adds to types of the lower one, and that this could call without an import: those that are
/// visible there, but for the public ones; and of these, the ones that it calls.
fn additions(files: &[(&str, &Source)], below: &str, above: &str) -> Vec<String> {
    let on = |shelf: &str| {
        let is_there = |file: &str| module_of(file).first().is_some_and(|first| first == shelf);
        files.iter().filter(|(file, _)| is_there(file)).collect::<Vec<_>>()
    };
    let (lower, upper) = (on(below), on(above));
    let types: BTreeSet<_> = lower.iter().flat_map(|(_, source)| source.types()).collect();
    let own: BTreeSet<_> = lower.iter().flat_map(|(_, source)| source.functions()).collect();
    let (mut faults, mut public) = (Vec::new(), BTreeMap::new());
    for (file, source) in upper {
        let declared = source.types();
        let is_added = |of: &str| types.contains(of) && !declared.contains(&of);
        let inside = format!("pub(incrate::{above}");
        for method in source.methods().into_iter().filter(|method| is_added(&method.of)) {
            let Method { of, name, visible, line } = method;
            let is_of_module = visible == "pub(super)" && module_of(file).len() > 1;
            if visible == "pub" {
                public.insert(name, of);
            } else if !(visible.is_empty() || is_of_module || visible.starts_with(&inside)) {
                faults.push(format!(
                    "{file}:{line}: `{below}` can call `{of}::{name}`: make it `pub(in crate::{above})`, \
                     or a port of `{below}`"
                ));
            }
        }
    }
    for (file, source) in lower {
        for (name, line) in source.calls() {
            if let Some(of) = public.get(name).filter(|_| !own.contains(name)) {
                faults.push(format!("{file}:{line}: `{of}::{name}` is of `{above}`"));
            }
        }
    }
    faults
}

/// The shortest way from a module back to it.
fn way_back(
    imports: &BTreeMap<Module, BTreeMap<Module, usize>>,
    begin: &Module,
) -> Option<Vec<Module>> {
    let (mut ways, mut seen) = (VecDeque::from([vec![begin.clone()]]), BTreeSet::new());
    while let Some(way) = ways.pop_front() {
        for next in imports.get(way.last()?).into_iter().flat_map(BTreeMap::keys) {
            if next == begin {
                return Some(way);
            }
            if seen.insert(next.clone()) {
                ways.push_back([&way[..], std::slice::from_ref(next)].concat());
            }
        }
    }
    None
}

#[test]
fn the_core_has_no_cycle_of_modules() {
    let is_of_core = |file: &str| !is_of_tests(&format!("/{file}"));
    let files: Vec<_> = sources(CORE).into_iter().filter(|(file, _)| is_of_core(file)).collect();
    assert!(files.len() > 100, "the core has another form now");
    assert_none(faults(&files, "kernel", "ext"));
    assert_none(additions(&files, "kernel", "ext"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_of(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = files.iter().map(|(file, text)| (*file, Source::parse(text))).collect();
        let files: Vec<_> = files.iter().map(|(file, source)| (*file, source)).collect();
        faults(&files, "ground", "roof")
    }

    #[test]
    fn a_page_that_leads_to_its_files_is_no_cycle() {
        let files = [
            ("lib.rs", "mod ground; mod roof; pub use self::ground::Stone;"),
            ("ground.rs", "mod stone; mod sand; pub(crate) use self::stone::Stone;"),
            ("ground/stone.rs", "use std::fmt; mod tests { use super::super::sand; }"),
            ("ground/sand.rs", "use super::Stone; use crate::Stone as Rock;"),
            ("roof.rs", "use crate::ground::{sand, Stone}; fn f() { sand::g() }"),
        ];
        assert_eq!(faults_of(&files), [""; 0]);
    }

    #[test]
    fn a_cycle_is_found_through_imports_names_and_pages() {
        let files = [
            ("ground.rs", "mod stone; mod sand; mod clay; pub(crate) use self::sand::Sand;"),
            ("ground/stone.rs", "use crate::ground::Sand;"),
            ("ground/sand.rs", "use super::clay::{self}; fn f() { clay::g() }"),
            ("ground/clay.rs", "fn f() { super::stone::g() }"),
            ("roof.rs", "use crate::ground::Sand;"),
        ];
        let expected = "a cycle: ground::clay -> ground::stone -> ground::sand -> ground::clay";
        assert_eq!(faults_of(&files), [expected]);
    }

    #[test]
    fn an_import_from_the_upper_shelf_is_found() {
        let files = [
            ("ground.rs", "mod stone;"),
            ("ground/stone.rs", "\nuse crate::roof::tile::Tile;"),
            ("roof.rs", "mod tile;"),
            ("roof/tile.rs", ""),
        ];
        assert_eq!(faults_of(&files), ["ground::stone:2: `roof::tile` is of `roof`"]);
    }

    #[test]
    fn a_call_of_what_the_upper_shelf_adds_is_found() {
        let files = [
            (
                "ground.rs",
                "struct Stone; fn f(s: &Stone, c: &Cart) { s.weigh(); s.lie(); c.load(Ordering::Relaxed); }",
            ),
            (
                "ground/sand.rs",
                "impl Sand { fn lie(&self) {} }\nfn g(s: &Stone) { s.roll(); Stone::load(s, 7) }",
            ),
            (
                "roof.rs",
                "impl Stone { pub(crate) fn roll(&self) {} pub(in crate::roof) fn wait(&self) {}\n\
                 pub fn weigh(&self) {} pub fn lie(&self) {} fn own(&self) {} pub(super) fn up(&self) {} }",
            ),
            (
                "roof/tile.rs",
                "struct Tile; impl Tile { pub(crate) fn lie(&self) {} }\n\
                 impl Stone { pub(super) fn lift(&self) {} pub fn load(&self) {} } impl Load for Stone { fn take(&self) {} }",
            ),
        ];
        let files: Vec<_> = files.iter().map(|(file, text)| (*file, Source::parse(text))).collect();
        let files: Vec<_> = files.iter().map(|(file, source)| (*file, source)).collect();
        let expected = [
            "roof.rs:1: `ground` can call `Stone::roll`: make it `pub(in crate::roof)`, or a port of `ground`",
            "roof.rs:2: `ground` can call `Stone::up`: make it `pub(in crate::roof)`, or a port of `ground`",
            "ground.rs:1: `Stone::weigh` is of `roof`",
            "ground/sand.rs:2: `Stone::load` is of `roof`",
        ];
        assert_eq!(additions(&files, "ground", "roof"), expected);
    }
}
