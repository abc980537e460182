//! Which paths belong to which watch of the system.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

/// The watches by the system's numbers, and the paths that belong to them: each path to one, and to each number at least
/// one, except inside `add`.
#[derive(Default)]
pub(super) struct Watches {
    places: HashMap<i32, Vec<Place>>,
    numbers: HashMap<Arc<Path>, i32>,
    /// The watch that a path is about to be put to: it goes on without one.
    held: Option<i32>,
}

/// A path as the program gave it, and as it is looked up, wherever the process has gone since.
#[derive(Clone)]
struct Place {
    given: Arc<Path>,
    absolute: Arc<Path>,
}

impl Watches {
    /// The watch of a path.
    pub(super) fn number_of(&self, path: &Path) -> Option<i32> {
        self.numbers.get(path).copied()
    }

    pub(super) fn is_known(&self, number: i32) -> bool {
        self.places.contains_key(&number)
    }

    pub(super) fn numbers(&self) -> Vec<i32> {
        self.places.keys().copied().collect()
    }

    /// Knows the watch from now on, and keeps it until `insert`. False if it was known.
    pub(super) fn begin(&mut self, number: i32) -> bool {
        self.held = Some(number);
        let is_new = !self.is_known(number);
        self.places.entry(number).or_default();
        is_new
    }

    /// Puts a path that belongs to none to a watch. False if the system has ended the watch.
    pub(super) fn insert(&mut self, number: i32, path: &Path) -> bool {
        self.held = None;
        let Some(places) = self.places.get_mut(&number) else { return false };
        let given: Arc<Path> = Arc::from(path);
        let absolute = match path::absolute(path) {
            Ok(absolute) if absolute != path => Arc::from(absolute),
            _ => Arc::clone(&given),
        };
        self.numbers.insert(Arc::clone(&given), number);
        places.push(Place { given, absolute });
        true
    }

    /// Takes a path away. Gives its watch, and whether that has ended, because no path is left.
    pub(super) fn remove(&mut self, path: &Path) -> Option<(i32, bool)> {
        let number = self.numbers.remove(path)?;
        if let Some(places) = self.places.get_mut(&number) {
            places.retain(|place| *place.given != *path);
        }
        Some((number, self.end_if_empty(number)))
    }

    /// Ends the watch if no path belongs to it. False if one does or will, or it had ended.
    pub(super) fn end_if_empty(&mut self, number: i32) -> bool {
        let is_empty =
            self.held != Some(number) && self.places.get(&number).is_some_and(Vec::is_empty);
        if is_empty {
            self.places.remove(&number);
        }
        is_empty
    }

    /// Ends the watch, with its paths.
    pub(super) fn end(&mut self, number: i32) {
        for place in self.places.remove(&number).into_iter().flatten() {
            self.numbers.remove(&place.given);
        }
    }

    /// The paths of a watch, with a name inside the directory.
    pub(super) fn paths(&self, number: i32, name: Option<&OsStr>) -> Vec<PathBuf> {
        let places = self.places.get(&number).into_iter().flatten();
        places
            .map(|place| match name {
                Some(name) => place.given.join(name),
                None => place.given.to_path_buf(),
            })
            .collect()
    }

    /// The paths of a watch as they were given, and as they are looked up.
    pub(super) fn places(&self, number: i32) -> Vec<(Arc<Path>, Arc<Path>)> {
        let places = self.places.get(&number).into_iter().flatten();
        places.map(|place| (Arc::clone(&place.given), Arc::clone(&place.absolute))).collect()
    }
}
