//! Which file defines what a path names, through imports and re-exports.

use super::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// The files of a crate without tests and models, and the names in them.
pub(crate) struct Names {
    pub(crate) files: BTreeMap<String, Source>,
    modules: BTreeMap<Vec<String>, Module>,
}

#[derive(Default)]
struct Module {
    file: String,
    /// By name, the line of the definition.
    items: BTreeMap<String, usize>,
    imports: Vec<(String, Vec<String>)>,
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    Item { file: String, line: usize },
    Module(Vec<String>),
}

/// The names whose imports are being followed, each with its module. An import that leads to itself
/// ends there, such as `use tokio::io as tokio`.
type Open = Vec<(Vec<String>, String)>;

impl Names {
    pub(crate) fn of(files: &[(String, Source)]) -> Self {
        let mut names = Self { files: BTreeMap::new(), modules: BTreeMap::new() };
        for (file, source) in files {
            let place = module_of(file);
            let is_double = place.iter().any(|part| part == "model" || part.ends_with("_model"));
            if is_double || files.iter().any(|parent| is_test_of(&place, parent)) {
                continue;
            }
            let source = source.without_tests();
            names.module(file, &[]);
            for item in source.definitions() {
                let [name] = &item.path[..] else { unreachable!("a definition is one name") };
                names.module(file, &item.inside).items.entry(name.clone()).or_insert(item.line);
            }
            for path in source.paths() {
                if let Some(import) = &path.import {
                    let import = (import.name.clone(), without_self(&path.segments).to_vec());
                    names.module(file, &path.inside).imports.push(import);
                }
            }
            names.files.insert(file.clone(), source);
        }
        names
    }

    /// The module of this file, or one inside it, which is made if it is not there.
    fn module(&mut self, file: &str, inside: &[String]) -> &mut Module {
        let place = [module_of(file), inside.to_vec()].concat();
        let module = self.modules.entry(place).or_default();
        file.clone_into(&mut module.file);
        module
    }

    /// What a path leads to that stands in a module of this file. It is nothing in another crate, and
    /// more than one thing if the configuration chooses, or if a module and an item have one name.
    pub(crate) fn find(&self, file: &str, inside: &[String], path: &[String]) -> BTreeSet<Named> {
        let place = [module_of(file), inside.to_vec()].concat();
        self.look_up(&place, without_self(path), &mut Open::new())
    }

    fn look_up(&self, place: &[String], path: &[String], open: &mut Open) -> BTreeSet<Named> {
        let (mut place, mut rest) = (place, path);
        match path.first().map_or("", String::as_str) {
            "crate" => return self.walk(&[], &rest[1..], open),
            "self" => rest = &rest[1..],
            "super" => {}
            name => {
                // A name that is neither here nor imported here is that of a crate or of the language.
                let is_known = self.has(place, name);
                return if is_known { self.walk(place, path, open) } else { BTreeSet::new() };
            }
        }
        while rest.first().is_some_and(|first| first == "super") {
            (place, rest) = (&place[..place.len().saturating_sub(1)], &rest[1..]);
        }
        self.walk(place, rest, open)
    }

    /// Whether a module has the name without a look into the modules of its `*`.
    fn has(&self, place: &[String], name: &str) -> bool {
        let module = self.modules.get(place);
        self.modules.contains_key(&child(place, name))
            || module.is_some_and(|module| {
                module.items.contains_key(name) || module.imports.iter().any(|(own, _)| own == name)
            })
    }

    /// Follows a path that begins in a module of this crate.
    fn walk(&self, place: &[String], path: &[String], open: &mut Open) -> BTreeSet<Named> {
        let Some(name) = path.first() else { return [Named::Module(place.to_vec())].into() };
        let Some(module) = self.modules.get(place) else { return BTreeSet::new() };
        let child = child(place, name);
        if path.len() > 1 && self.modules.contains_key(&child) {
            return self.walk(&child, &path[1..], open);
        }
        let mut found = BTreeSet::new();
        if self.modules.contains_key(&child) {
            found.insert(Named::Module(child));
        }
        let item = |line| Named::Item { file: module.file.clone(), line };
        found.extend(module.items.get(name).copied().map(item));
        let key = (place.to_vec(), name.clone());
        if !open.contains(&key) {
            open.push(key);
            for (_, target) in module.imports.iter().filter(|(own, _)| own == name) {
                found.extend(self.look_up(place, &[target, &path[1..]].concat(), open));
            }
            // An own name hides those that come by a `*`.
            let globs = module.imports.iter().filter(|(own, _)| own == "*" && found.is_empty());
            let globs: Vec<_> = globs.map(|(_, target)| &target[..target.len() - 1]).collect();
            for target in globs {
                for named in self.look_up(place, target, open) {
                    match named {
                        Named::Module(from) if self.has(&from, name) => {
                            found.extend(self.walk(&from, path, open));
                        }
                        _ => {}
                    }
                }
            }
            open.pop();
        }
        if found.is_empty() && !self.has(place, name) {
            // A macro makes it.
            found.insert(item(1));
        }
        found
    }
}

/// The module that a file is, from the root: `lane/slice.rs` is `lane`, `slice`. None for the root.
pub(crate) fn module_of(file: &str) -> Vec<String> {
    let path = file.strip_suffix(".rs").expect("a Rust file");
    path.split('/').filter(|part| !["lib", "main"].contains(part)).map(str::to_owned).collect()
}

/// Whether this file declares the module, or one around it, for tests only.
fn is_test_of(module: &[String], (file, source): &(String, Source)) -> bool {
    let parent = module_of(file);
    module.starts_with(&parent)
        && module
            .get(parent.len())
            .is_some_and(|child| source.declares(child) && !source.without_tests().declares(child))
}

fn child(place: &[String], name: &str) -> Vec<String> {
    [place, &[name.to_owned()]].concat()
}

/// The path of `use a::b::{self}` is that of `b`.
fn without_self(path: &[String]) -> &[String] {
    match path {
        [before @ .., last] if last == "self" && !before.is_empty() => before,
        _ => path,
    }
}

#[test]
fn a_name_is_followed_to_its_files() {
    let files = [
        ("lib.rs", "mod a; mod b; pub use self::a::a; pub use b::inner::Deep;"),
        (
            "a.rs",
            "\npub fn a() {} use tokio::io as tokio; use self::me as me; pub use super::b::*;",
        ),
        (
            "b.rs",
            "pub mod inner { pub use self::low::*; mod low {\npub struct Deep; } } pub enum E { X }
            #[cfg(unix)] use crate::a::a as which; #[cfg(not(unix))] use self::inner::Deep as which;
            made!(pub struct Made); use crate::b as this;",
        ),
    ];
    let files = files.map(|(file, text)| (file.to_owned(), Source::parse(text)));
    let names = Names::of(&files);
    let find = |file: &str, path: &str| {
        let path: Vec<_> = path.split("::").map(str::to_owned).collect();
        let found = names.find(file, &[], &path).into_iter().map(|named| match named {
            Named::Item { file, line } => format!("{file}:{line}"),
            Named::Module(path) => path.join("::"),
        });
        found.collect::<Vec<_>>().join(" ")
    };
    // A function has the name of its module.
    assert_eq!(find("b.rs", "crate::a"), "a.rs:2 a");
    assert_eq!(find("b.rs", "super::a::a"), "a.rs:2");
    assert_eq!(find("a.rs", "crate::Deep::new"), "b.rs:2");
    assert_eq!(find("a.rs", "super::b::E::X"), "b.rs:2");
    // By the `*` of this module, from the modules of another file, under another name.
    assert_eq!(find("lib.rs", "a::E"), "b.rs:2");
    assert_eq!(find("b.rs", "this::inner::self"), "b::inner");
    assert_eq!(find("b.rs", "which"), "a.rs:2 b.rs:2");
    assert_eq!(find("a.rs", "crate::b::Other"), "b.rs:1");
    // The names of other crates, and of nothing.
    assert_eq!(find("a.rs", "tokio::spawn"), "");
    assert_eq!(find("a.rs", "me"), "");
    assert_eq!(find("a.rs", "std::fmt"), "");
    assert_eq!(find("a.rs", "Self::new"), "");
}
