//! Whether the inherent methods of a type stand in the layer that defines it.

use super::layering::Crate;
use super::names::{Named, Names, module_of};
use super::source::Source;
use std::collections::BTreeSet;

/// The faults of these files, a line each.
pub(crate) fn faults(of: &Crate, files: &[(String, Source)]) -> Vec<String> {
    let names = Names::of(files);
    let (mut faults, mut needed) = (Vec::new(), BTreeSet::new());
    for (file, source) in &names.files {
        for found in source.inherent_impls() {
            let name = &found.path[found.path.len() - 1];
            let place = format!("{}/{file}:{}: `impl {name}`", of.sources, found.line);
            let mut is_found = false;
            for named in names.find(file, &found.inside, &found.path) {
                let Named::Item { file: home, line } = named else { continue };
                is_found = true;
                let (from, layer) = (layer(file), layer(&home));
                let exception = of.impls.iter().find(|exception| **exception == (&*from, &**name));
                match exception {
                    _ if from == layer => {}
                    Some(exception) => {
                        needed.insert(exception);
                    }
                    None => faults.push(format!(
                        "{place}: {home}:{line} defines the type, and only `{layer}` may give it methods"
                    )),
                }
            }
            if !is_found {
                faults.push(format!("{place}: the type cannot be found"));
            }
        }
    }
    let unneeded = of.impls.iter().filter(|exception| !needed.contains(exception));
    faults.extend(unneeded.map(|(layer, name)| {
        format!("{}: the exception of `{layer}` for `impl {name}` is not needed", of.sources)
    }));
    faults
}

/// The first module around a file; the root is none.
fn layer(file: &str) -> String {
    module_of(file).first().map_or("the root", String::as_str).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADE_UP: Crate =
        Crate { sources: "made/up", layers: &[], exceptions: &[], impls: &[("roof", "Wall")] };

    fn faults_of(of: &Crate, files: &[(&str, &str)]) -> Vec<String> {
        let files = [("main.rs", "")].iter().chain(files);
        let files = files.map(|(file, text)| ((*file).to_owned(), Source::parse(text)));
        faults(of, &files.collect::<Vec<_>>())
    }

    #[test]
    fn methods_in_another_layer_are_a_fault() {
        let files = [
            ("wall.rs", "pub use self::brick::Brick;\npub struct Wall<T>(T);\nimpl<T> Wall<T> {}"),
            ("wall/brick.rs", "\n\npub enum Brick {}\nimpl super::Wall<Brick> {}"),
            ("roof.rs", "use crate::wall::{Brick, Wall};\nimpl Brick {}\nimpl<T> Wall<T> {}"),
            ("lib.rs", "mod wall; use wall::Wall as Outer;\nimpl Outer<u8> {}"),
        ];
        let expected = [
            "made/up/lib.rs:2: `impl Outer`: wall.rs:2 defines the type, and only `wall` may give it \
             methods",
            "made/up/roof.rs:2: `impl Brick`: wall/brick.rs:3 defines the type, and only `wall` may \
             give it methods",
        ];
        assert_eq!(faults_of(&MADE_UP, &files), expected);
    }

    #[test]
    fn traits_tests_and_macros_are_free() {
        let files = [
            ("wall.rs", "pub struct Wall;"),
            (
                "window.rs",
                "use crate::wall::Wall; impl Drop for Wall {} impl<T> From<T> for Wall {}",
            ),
            ("roof.rs", "#[cfg(test)] impl crate::wall::Wall {} impl crate::wall::Wall {}"),
            (
                "door.rs",
                "macro_rules! m { ($t:ty) => { impl $t {} } } #[cfg(test)] mod tests { impl W {} }",
            ),
        ];
        assert_eq!(faults_of(&MADE_UP, &files), [""; 0]);
    }

    #[test]
    fn an_exception_is_needed_and_a_type_is_found() {
        let files = [("wall.rs", "pub struct Wall; impl Wall {}"), ("roof.rs", "\nimpl Tile {}")];
        let expected = [
            "made/up/roof.rs:2: `impl Tile`: the type cannot be found",
            "made/up: the exception of `roof` for `impl Wall` is not needed",
        ];
        assert_eq!(faults_of(&MADE_UP, &files), expected);
    }
}
