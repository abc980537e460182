//! Random operations on a few files and directories, with a watcher of paths and with a watcher of a tree.
//!
//! `COLORED_WATCH_SEED=17` runs one program again.

use super::{Place, watching};
use crate::fs::{Event, Watcher};
use crate::services::testing::run;
use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

const VARIABLE: &str = "COLORED_WATCH_SEED";

/// splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % end as u64) as usize
    }
}

/// The seeds to run: the one that is asked for, or as many as fit into the time, 5 at least.
fn seeds(time: Duration) -> impl Iterator<Item = u64> {
    let only: Option<u64> =
        std::env::var(VARIABLE).ok().map(|text| text.parse().expect("a seed is a number"));
    let begin = Instant::now();
    let many = (0..).take_while(move |seed| *seed < 5 || begin.elapsed() < time);
    only.into_iter().chain(many.take(if only.is_some() { 0 } else { usize::MAX }))
}

/// The next event, if the watcher knows of one.
fn try_next(watcher: &mut Watcher) -> Option<Event> {
    let mut next = pin!(watcher.next_event());
    match next.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(event) => Some(event.unwrap()),
        Poll::Pending => None,
    }
}

/// Makes a directory in a watched one: all that has happened before is reported before it.
fn mark(dir: &Path) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    // Ordering: a counter.
    let path = dir.join(format!("mark-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
    fs::create_dir(&path).unwrap();
    path
}

/// A watcher of single paths, and what a program may expect of it.
struct Program {
    random: Random,
    watcher: Watcher,
    place: Place,
    /// A mark that is yet to be read.
    marked: Option<PathBuf>,
    /// Added, and not reported as removed since.
    watched: HashSet<PathBuf>,
    /// Paths at which something has ended or was replaced since the events were read to the end.
    gone: HashSet<PathBuf>,
    trace: Vec<String>,
}

impl Program {
    fn new(seed: u64) -> Program {
        let place = Place::new(&format!("generated-{seed}"));
        for dir in ["d", "e", "d/f", "marks"] {
            fs::create_dir(place.at(dir)).unwrap();
        }
        Program {
            random: Random(seed),
            watcher: watching(&place.at("marks")),
            marked: None,
            place,
            watched: HashSet::new(),
            gone: HashSet::new(),
            trace: Vec::new(),
        }
    }

    fn any_path(&mut self) -> PathBuf {
        let dir = ["d", "e", "d/f"][self.random.below(3)];
        let name = ["a", "b", "c"][self.random.below(3)];
        self.place.at(dir).join(name)
    }

    /// One operation on the files, or on the watcher.
    async fn step(&mut self) {
        let (path, other) = (self.any_path(), self.any_path());
        let done = match self.random.below(11) {
            0 => ("write", fs::write(&path, "text")),
            1 => (
                "append",
                fs::OpenOptions::new()
                    .append(true)
                    .open(&path)
                    .and_then(|mut file| file.write_all(b"+")),
            ),
            2 => ("remove", self.take(&path, &path, |path, _| fs::remove_file(path))),
            3 | 4 => ("rename", self.take(&path, &other, |path, other| fs::rename(path, other))),
            5 => ("link", fs::hard_link(&path, &other)),
            6 | 7 => ("add", self.add(&path)),
            8 => ("unwatch", self.unwatch(&path)),
            // Some of what there is, so that the watcher is behind in every way.
            9 => {
                self.marked = Some(mark(&self.place.at("marks")));
                return;
            }
            _ => {
                if let Some(mark) = self.marked.take() {
                    self.read_until(&mark).await;
                }
                return;
            }
        };
        self.trace.push(format!(
            "{} {path:?} {other:?}: {:?}",
            done.0,
            done.1.map_err(|e| e.kind())
        ));
    }

    /// An operation after which something else or nothing is at these paths.
    fn take(
        &mut self,
        path: &Path,
        other: &Path,
        how: fn(&Path, &Path) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        how(path, other)?;
        self.gone.extend([path.to_owned(), other.to_owned()]);
        Ok(())
    }

    fn add(&mut self, path: &Path) -> std::io::Result<()> {
        let exists = path.exists();
        let added = self.watcher.add(path);
        assert_eq!(added.is_ok(), exists, "add {path:?}: {added:?}");
        if exists {
            self.watched.insert(path.to_owned());
        }
        added
    }

    fn unwatch(&mut self, path: &Path) -> std::io::Result<()> {
        let was_watched = self.watched.remove(path);
        let removed = self.watcher.remove(path);
        // A file that has gone may have ended its watch before this is read.
        assert!(removed.is_ok() == was_watched || self.gone.contains(path), "unwatch {path:?}");
        removed
    }

    fn note(&mut self, event: &Event) {
        self.trace.push(format!("  {event:?}"));
        if let Event::Removed(path) = event {
            assert!(self.gone.contains(path), "{path:?} was there all the time: {:#?}", self.trace);
            self.watched.remove(path);
        }
    }

    async fn read_until(&mut self, mark: &Path) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            let event = self.watcher.next_event().await.unwrap();
            match event {
                Event::Created(path) if path == mark => return events,
                Event::Created(path) if path.starts_with(self.place.at("marks")) => {}
                event => {
                    self.note(&event);
                    events.push(event);
                }
            }
        }
    }

    async fn read_all(&mut self) -> Vec<Event> {
        let mark = mark(&self.place.at("marks"));
        self.read_until(&mark).await
    }

    /// At rest, each path that is watched tells of a write to it.
    async fn check(&mut self) {
        self.read_all().await;
        self.gone.clear();
        self.check_watched().await;
        // Once more, with everything that is there: nothing that is known of old paths may harm the present ones.
        for dir in ["d", "e", "d/f"] {
            for name in ["a", "b", "c"] {
                let path = self.place.at(dir).join(name);
                if path.exists() {
                    self.trace.push(format!("add {path:?}"));
                    self.add(&path).unwrap();
                }
            }
        }
        let events = self.read_all().await;
        assert_eq!(events, [], "{:#?}", self.trace);
        self.check_watched().await;
    }

    async fn check_watched(&mut self) {
        let watched: Vec<PathBuf> = self.watched.iter().cloned().collect();
        for path in watched {
            assert!(path.exists(), "{path:?} is gone, and nothing said so: {:#?}", self.trace);
            let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(b"+").unwrap();
            drop(file);
            let events = self.read_all().await;
            let told = events.contains(&Event::Modified(path.clone()));
            assert!(told, "a write to {path:?} was not reported: {:#?}", self.trace);
        }
    }
}

#[test]
fn what_was_added_and_is_there_reports() {
    run(async {
        for seed in seeds(Duration::from_millis(600)) {
            let mut program = Program::new(seed);
            // A test that fails shows its output.
            println!("{VARIABLE}={seed}");
            for _ in 0..60 {
                program.step().await;
            }
            program.check().await;
        }
    });
}

/// Adds a directory and all below it, as the documentation says.
fn add_tree(watcher: &mut Watcher, dir: &Path) {
    if watcher.add(dir).is_err() {
        // It has gone on: the next event says where.
        return;
    }
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        add_tree(watcher, &entry.path());
    }
}

fn follow(watcher: &mut Watcher, root: &Path, event: &Event) {
    match event {
        Event::Created(path) | Event::Renamed { to: path, .. } if path.is_dir() => {
            add_tree(watcher, path);
        }
        Event::Overflow => add_tree(watcher, root),
        _ => {}
    }
}

fn directories(dir: &Path, all: &mut Vec<PathBuf>) {
    all.push(dir.to_owned());
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            directories(&entry.path(), all);
        }
    }
}

/// Makes, moves and removes directories of a tree, for a while.
fn stir(root: &Path, outside: &Path, random: &mut Random, over: &AtomicBool) {
    // Ordering: a hint; the join orders the rest.
    while !over.load(Ordering::Relaxed) {
        let mut path = || {
            let depth = random.below(3);
            (0..=depth).fold(root.to_owned(), |path, _| path.join(["a", "b"][random.below(2)]))
        };
        let (one, other) = (path(), path());
        let _ = match random.below(6) {
            0 | 1 => fs::create_dir(&one),
            2 => fs::remove_dir(&one),
            3 => fs::rename(&one, outside.join("x"))
                .and_then(|()| fs::rename(outside.join("x"), &other)),
            _ => fs::rename(&one, &other),
        };
    }
}

/// One thread changes a tree of directories, and this one follows it. At rest it knows every directory.
#[test]
fn a_tree_that_is_changed_meanwhile_is_known_at_the_end() {
    run(async {
        for seed in seeds(Duration::from_millis(600)) {
            println!("{VARIABLE}={seed}");
            let (place, outside) =
                (Place::new(&format!("tree-{seed}")), Place::new(&format!("outside-{seed}")));
            let mut watcher = watching(&place.0);
            let over = AtomicBool::new(false);
            thread::scope(|scope| {
                let mut random = Random(seed);
                let (root, outside, over) = (&place.0, &outside.0, &over);
                scope.spawn(move || stir(root, outside, &mut random, over));
                let begin = Instant::now();
                while begin.elapsed() < Duration::from_millis(10) {
                    if let Some(event) = try_next(&mut watcher) {
                        follow(&mut watcher, root, &event);
                    }
                }
                // Ordering: a hint.
                over.store(true, Ordering::Relaxed);
            });
            let end = mark(&place.0);
            loop {
                let event = watcher.next_event().await.unwrap();
                if event == Event::Created(end.clone()) {
                    break;
                }
                follow(&mut watcher, &place.0, &event);
            }
            fs::remove_dir(&end).unwrap();
            let mut all = Vec::new();
            directories(&place.0, &mut all);
            for dir in all {
                fs::write(dir.join("told"), "").unwrap();
                let (end, mut told) = (mark(&place.0), false);
                loop {
                    match watcher.next_event().await.unwrap() {
                        Event::Created(path) if path == end => break,
                        event => told |= event == Event::Created(dir.join("told")),
                    }
                }
                assert!(told, "{VARIABLE}={seed}: {dir:?} is not watched under its name");
            }
        }
    });
}
