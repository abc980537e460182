//! Which changes are reported, on Linux.

mod generated;
mod names;

use super::{Event, Watcher};
use crate::io::named_call;
use crate::services::testing::run;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Waker};

/// A directory that is gone afterwards.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path =
            std::env::temp_dir().join(format!("colored-watch-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Place(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The events up to that of the file `end`, which this makes.
async fn events(watcher: &mut Watcher, place: &Place) -> Vec<Event> {
    let end = place.at("end");
    fs::create_dir(&end).unwrap();
    let mut events = Vec::new();
    loop {
        match watcher.next_event().await.unwrap() {
            Event::Created(path) if path == end => break,
            event => events.push(event),
        }
    }
    fs::remove_dir(&end).unwrap();
    assert_eq!(watcher.next_event().await.unwrap(), Event::Removed(end));
    events
}

fn watching(path: &Path) -> Watcher {
    let mut watcher = Watcher::new().unwrap();
    watcher.add(path).unwrap();
    watcher
}

#[test]
fn each_change_of_an_entry_is_reported_in_order() {
    run(async {
        let place = Place::new("entries");
        let mut watcher = watching(&place.0);
        let (file, other) = (place.at("file"), place.at("other"));
        let mut open = File::create(&file).unwrap();
        open.write_all(b"text").unwrap();
        drop(open);
        fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        fs::rename(&file, &other).unwrap();
        fs::remove_file(&other).unwrap();
        let expected = [
            Event::Created(file.clone()),
            Event::Modified(file.clone()),
            Event::Closed(file.clone()),
            Event::Metadata(file.clone()),
            Event::Renamed { from: file, to: other.clone() },
            Event::Removed(other),
        ];
        assert_eq!(events(&mut watcher, &place).await, expected);
    });
}

/// A move is one event where both directories are watched, and otherwise what it is for the one that is.
#[test]
fn moves_are_seen_from_each_side() {
    run(async {
        let (here, there) = (Place::new("here"), Place::new("there"));
        let mut both = watching(&here.0);
        both.add(&there.0).unwrap();
        let (mut source, mut target) = (watching(&here.0), watching(&there.0));
        fs::create_dir(here.at("a")).unwrap();
        fs::rename(here.at("a"), there.at("b")).unwrap();
        let (from, to) = (here.at("a"), there.at("b"));
        let created = Event::Created(from.clone());
        let renamed = Event::Renamed { from: from.clone(), to: to.clone() };
        assert_eq!(events(&mut both, &here).await, [created.clone(), renamed]);
        assert_eq!(events(&mut source, &here).await[..2], [created, Event::Removed(from)]);
        assert_eq!(events(&mut target, &there).await, [Event::Created(to)]);
    });
}

#[test]
fn a_watched_file_that_goes_is_watched_no_more() {
    run(async {
        let place = Place::new("file");
        let (file, moved) = (place.at("file"), place.at("moved"));
        for goes in [
            (|file, _| fs::remove_file(file)) as fn(&Path, &Path) -> std::io::Result<()>,
            |file, moved| fs::rename(file, moved),
        ] {
            fs::write(&file, "").unwrap();
            let mut watcher = watching(&file);
            fs::write(&file, "text").unwrap();
            goes(&file, &moved).unwrap();
            let mut seen = Vec::new();
            while seen.last() != Some(&Event::Removed(file.clone())) {
                seen.push(watcher.next_event().await.unwrap());
            }
            assert!(seen.contains(&Event::Modified(file.clone())), "{seen:?}");
            // Another file at the path is another file.
            fs::write(&file, "new").unwrap();
            watcher.add(&place.0).unwrap();
            assert_eq!(events(&mut watcher, &place).await, []);
            assert_eq!(watcher.remove(&file).unwrap_err().kind(), ErrorKind::NotFound);
            fs::remove_dir_all(&place.0).unwrap();
            fs::create_dir(&place.0).unwrap();
        }
    });
}

#[test]
fn a_removed_path_and_a_path_that_never_was_are_told() {
    run(async {
        let place = Place::new("removed");
        let inner = place.at("inner");
        fs::create_dir(&inner).unwrap();
        let mut watcher = watching(&place.0);
        watcher.add(&inner).unwrap();
        watcher.remove(&inner).unwrap();
        assert_eq!(watcher.remove(&inner).unwrap_err().kind(), ErrorKind::NotFound);
        fs::write(inner.join("unseen"), "").unwrap();
        assert_eq!(events(&mut watcher, &place).await, []);
        let error = named_call(|| watcher.add(place.at("nothing"))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let text = format!("cannot watch {}: ", place.at("nothing").display());
        assert!(error.to_string().starts_with(&text), "{error}");
        let error = watcher.remove(&inner).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
}

/// More events than the system keeps: the loss is an event itself, and what comes later is reported again.
#[test]
fn a_lost_event_is_reported() {
    run(async {
        let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
        let most: usize = most.trim().parse().unwrap();
        if most > 100_000 {
            eprintln!("skipped: the system keeps {most} events");
            return;
        }
        let place = Place::new("overflow");
        let files = ["a", "b"].map(|name| place.at(name));
        files.iter().for_each(|file| fs::write(file, "").unwrap());
        let mut watcher = watching(&place.0);
        // Equal events that follow one another are one.
        for number in 0..most + 100 {
            let mode = PermissionsExt::from_mode(0o600);
            fs::set_permissions(&files[number % 2], mode).unwrap();
        }
        let mut before = 0;
        while watcher.next_event().await.unwrap() != Event::Overflow {
            before += 1;
        }
        assert_eq!(before, most);
        assert_eq!(events(&mut watcher, &place).await, []);
    });
}

/// A dropped wait loses nothing, and a watcher without changes waits.
#[test]
fn a_watcher_waits() {
    run(async {
        let place = Place::new("waits");
        let mut watcher = watching(&place.0);
        {
            let mut next = pin!(watcher.next_event());
            assert!(next.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        let change = async { fs::create_dir(place.at("new")).unwrap() };
        let (event, ()) = tokio::join!(watcher.next_event(), change);
        assert_eq!(event.unwrap(), Event::Created(place.at("new")));
    });
}
