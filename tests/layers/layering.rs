//! Whether the imports of a crate point down.

use super::source::{Source, UsePath};
use std::collections::{BTreeMap, BTreeSet};

/// A crate and the layers of its modules, from bottom to top.
pub(crate) struct Crate {
    pub(crate) sources: &'static str,
    pub(crate) layers: &'static [&'static [&'static str]],
}

impl Crate {
    fn layer(&self, module: &str) -> Option<usize> {
        self.layers.iter().position(|layer| layer.contains(&module))
    }

    fn below(&self, layer: usize) -> String {
        let below = self.layers[..layer].concat();
        if below.is_empty() { "nothing of this crate".into() } else { below.join(", ") }
    }
}

/// The faults in the imports of these files, a line each.
pub(crate) fn faults(of: &Crate, files: &[(&str, &Source)]) -> Vec<String> {
    let mut faults = Vec::new();
    let names = names_of_the_root(files);
    let modules: BTreeSet<_> =
        files.iter().filter_map(|(file, _)| module_of(file).pop_front()).collect();
    let mut listed = of.layers.concat();
    listed.retain(|module| !modules.contains(*module));
    faults.extend(listed.iter().map(|module| format!("{}: there is no `{module}`", of.sources)));
    for (file, source) in files {
        let place = module_of(file);
        let Some(from) = place.front() else { continue };
        let Some(layer) = of.layer(from) else {
            faults.push(format!("{}/{file}: `{from}` is in no layer", of.sources));
            continue;
        };
        for path in source.paths() {
            let Some(first) = from_the_root(&path, &place) else { continue };
            // A name that is no module is an item of the root, and belongs to its module of origin.
            let to = if modules.contains(&first) { Some(&first) } else { names.get(&first) };
            let Some(to) = to.filter(|to| *to != from) else { continue };
            if of.layer(to).is_some_and(|to| to < layer) {
                continue;
            }
            faults.push(format!(
                "{}/{file}:{}: `{path}`: `{from}` may import from {}, but not from `{to}`",
                of.sources,
                path.line,
                of.below(layer)
            ));
        }
    }
    faults
}

/// The module that a file is, from the root: `lane/turn.rs` is `lane`, `turn`. None for the root.
fn module_of(file: &str) -> std::collections::VecDeque<String> {
    let path = file.strip_suffix(".rs").expect("a Rust file");
    path.split('/').filter(|part| !["lib", "main"].contains(part)).map(str::to_owned).collect()
}

/// The first segment of a path from the root of the crate; none if it leads out of the crate, or does
/// not leave the file's own module.
fn from_the_root(path: &UsePath, place: &std::collections::VecDeque<String>) -> Option<String> {
    let mut segments = path.segments.iter();
    let mut up = match segments.next()?.as_str() {
        "crate" => return segments.next().cloned(),
        "super" => 1,
        _ => return None,
    };
    let mut rest = segments.skip_while(|segment| {
        let another = *segment == "super";
        up += usize::from(another);
        another
    });
    let first = rest.next().cloned();
    (up >= place.len() + path.inside.len()).then_some(first).flatten()
}

/// The names that the root re-exports, and their modules.
fn names_of_the_root(files: &[(&str, &Source)]) -> BTreeMap<String, String> {
    let root = files.iter().filter(|(file, _)| module_of(file).is_empty());
    let paths = root.flat_map(|(_, source)| source.paths());
    let own = paths.filter(|path| path.starts_with("self") && path.segments.len() > 2);
    own.map(|path| (path.segments[path.segments.len() - 1].clone(), path.segments[1].clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADE_UP: Crate =
        Crate { sources: "made/up", layers: &[&["ground"], &["wall", "window"], &["roof"]] };

    fn faults_of(of: &Crate, files: &[(&str, &str)]) -> Vec<String> {
        let rest = ["ground.rs", "wall.rs", "window.rs", "roof.rs"].map(|file| (file, ""));
        let files = files.iter().chain(&rest);
        let files: Vec<_> = files.map(|(file, text)| (*file, Source::parse(text))).collect();
        let files: Vec<_> = files.iter().map(|(file, source)| (*file, source)).collect();
        faults(of, &files)
    }

    #[test]
    fn down_and_inside_is_allowed() {
        let files = [
            ("lib.rs", "mod ground; mod roof; pub use self::roof::Tile;"),
            ("wall/brick.rs", "use crate::ground::Stone; use super::mortar; use std::fmt;"),
            (
                "roof.rs",
                "use crate::{wall::{self, brick}, ground}; fn f() { super::window::open() }",
            ),
            ("roof/tile.rs", "use crate::Tile; mod tests { use super::super::Gutter; }"),
        ];
        assert_eq!(faults_of(&MADE_UP, &files), [""; 0]);
    }

    #[test]
    fn up_and_sideways_is_a_fault_with_its_place() {
        let files = [
            ("lib.rs", "pub use self::roof::{Tile, gutter as drain};"),
            ("ground.rs", "\nuse crate::wall::brick;"),
            ("wall.rs", "use super::window;"),
            ("wall/brick.rs", "mod inner { use super::super::super::roof; }\n// crate::roof\n"),
            ("window.rs", "fn f() -> crate::Tile { crate::roof::tile() }"),
        ];
        let expected = [
            "made/up/ground.rs:2: `crate::wall::brick`: `ground` may import from nothing of this \
             crate, but not from `wall`",
            "made/up/wall.rs:1: `super::window`: `wall` may import from ground, but not from `window`",
            "made/up/wall/brick.rs:1: `super::super::super::roof`: `wall` may import from ground, but \
             not from `roof`",
            "made/up/window.rs:1: `crate::Tile`: `window` may import from ground, but not from `roof`",
            "made/up/window.rs:1: `crate::roof::tile`: `window` may import from ground, but not from \
             `roof`",
        ];
        assert_eq!(faults_of(&MADE_UP, &files), expected);
    }

    #[test]
    fn the_table_is_held_to_the_files() {
        let of =
            Crate { layers: &[&["ground"], &["wall", "window", "door"], &["roof"]], ..MADE_UP };
        let files = [("cellar.rs", "")];
        let expected =
            ["made/up: there is no `door`", "made/up/cellar.rs: `cellar` is in no layer"];
        assert_eq!(faults_of(&of, &files), expected);
    }
}
