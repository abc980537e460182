//! Files that are moved, have several names, or give theirs to others.

use super::{Place, events, watching};
use crate::fs::{Event, Watcher};
use crate::services::testing::run;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What is reported of these paths.
fn of<'a>(events: &'a [Event], paths: &[&Path]) -> Vec<&'a Event> {
    let is_of = |event: &&Event| match event {
        Event::Modified(path) | Event::Removed(path) => paths.contains(&&**path),
        _ => false,
    };
    events.iter().filter(is_of).collect()
}

/// The system says after the move was added that the file has moved, which is the move that the program knows.
#[test]
fn a_file_that_was_moved_is_watched_under_its_new_name() {
    run(async {
        let place = Place::new("moved");
        let (log, old) = (place.at("log"), place.at("log.1"));
        fs::write(&log, "").unwrap();
        let mut watcher = watching(&log);
        fs::write(&log, "a").unwrap();
        fs::rename(&log, &old).unwrap();
        watcher.add(&old).unwrap();
        fs::write(&log, "b").unwrap();
        watcher.add(&log).unwrap();
        fs::write(&old, "c").unwrap();
        fs::write(&log, "d").unwrap();
        watcher.add(&place.0).unwrap();
        let seen = events(&mut watcher, &place).await;
        let (modified, removed) = (Event::Modified, Event::Removed);
        let expected = [
            modified(log.clone()),
            removed(log.clone()),
            modified(old.clone()),
            modified(log.clone()),
        ];
        let mut seen = of(&seen, &[&log, &old]);
        // A file that is made shorter and then longer is modified twice.
        seen.dedup();
        assert_eq!(seen, expected.iter().collect::<Vec<_>>());
        watcher.remove(&old).unwrap();
        watcher.remove(&log).unwrap();
    });
}

/// It is no reason to end the watch that a file has moved, if it is back.
#[test]
fn a_file_that_was_moved_and_moved_back_is_watched() {
    run(async {
        let place = Place::new("back");
        let (here, there) = (place.at("here"), place.at("there"));
        fs::write(&here, "").unwrap();
        let mut watcher = watching(&here);
        fs::rename(&here, &there).unwrap();
        fs::rename(&there, &here).unwrap();
        watcher.add(&place.0).unwrap();
        assert_eq!(events(&mut watcher, &place).await, []);
        watcher.remove(&place.0).unwrap();
        fs::write(&here, "text").unwrap();
        assert_eq!(watcher.next_event().await.unwrap(), Event::Modified(here));
    });
}

#[test]
fn each_name_of_a_file_reports_until_it_is_gone() {
    run(async {
        let place = Place::new("links");
        let (one, two) = (place.at("one"), place.at("two"));
        fs::write(&one, "").unwrap();
        fs::hard_link(&one, &two).unwrap();
        let mut watcher = watching(&one);
        watcher.add(&two).unwrap();
        fs::write(&one, "text").unwrap();
        fs::remove_file(&two).unwrap();
        fs::write(&one, "more").unwrap();
        watcher.add(&place.0).unwrap();
        let seen = events(&mut watcher, &place).await;
        let (modified, removed) = (Event::Modified, Event::Removed);
        let mut of_two = of(&seen, &[&two]);
        of_two.dedup();
        assert_eq!(of_two, [&modified(two.clone()), &removed(two.clone())]);
        let last = of(&seen, &[&one, &two]).pop();
        assert_eq!(last, Some(&modified(one.clone())), "{seen:?}");
        assert!(!seen.contains(&removed(one.clone())));
        watcher.remove(&two).unwrap_err();
        watcher.remove(&one).unwrap();
    });
}

/// A directory of two names, one of them a link, tells moves inside it under both.
#[test]
fn a_directory_of_two_names_reports_under_both() {
    run(async {
        let place = Place::new("two-names");
        let (real, link) = (place.at("real"), place.at("link"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        fs::write(real.join("a"), "").unwrap();
        let mut watcher = watching(&real);
        watcher.add(&link).unwrap();
        fs::rename(real.join("a"), real.join("b")).unwrap();
        watcher.add(&place.0).unwrap();
        let renamed =
            [&real, &link].map(|dir| Event::Renamed { from: dir.join("a"), to: dir.join("b") });
        assert_eq!(events(&mut watcher, &place).await, renamed);
    });
}

/// Whether one path goes or the other, the one that is left reports.
#[test]
fn to_remove_one_name_leaves_the_other() {
    run(async {
        let place = Place::new("one-left");
        let names = [place.at("one"), place.at("two")];
        fs::write(&names[0], "").unwrap();
        fs::hard_link(&names[0], &names[1]).unwrap();
        for (gone, left) in [(0, 1), (1, 0)] {
            let mut watcher = watching(&names[0]);
            watcher.add(&names[1]).unwrap();
            watcher.remove(&names[gone]).unwrap();
            fs::write(&names[0], "text").unwrap();
            assert_eq!(watcher.next_event().await.unwrap(), Event::Modified(names[left].clone()));
        }
    });
}

/// To watch no more, and again, before the end of the first watch was read.
#[test]
fn a_path_that_was_removed_and_added_again_is_watched() {
    run(async {
        let place = Place::new("again");
        let file = place.at("file");
        fs::write(&file, "").unwrap();
        let mut watcher = watching(&file);
        for _ in 0..3 {
            watcher.remove(&file).unwrap();
            watcher.add(&file).unwrap();
        }
        fs::write(&file, "text").unwrap();
        assert_eq!(watcher.next_event().await.unwrap(), Event::Modified(file.clone()));
        watcher.remove(&file).unwrap();
        watcher.remove(&file).unwrap_err();
    });
}

/// The losses include that of the file's end.
#[test]
fn after_a_loss_what_is_gone_is_reported_and_the_rest_is_watched() {
    run(async {
        let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
        let most: usize = most.trim().parse().unwrap();
        if most > 100_000 {
            eprintln!("skipped: the system keeps {most} events");
            return;
        }
        let (place, full) = (Place::new("loss"), Place::new("full"));
        let (stays, goes) = (place.at("stays"), place.at("goes"));
        let noise = [full.at("a"), full.at("b")];
        for file in [&stays, &goes].into_iter().chain(&noise) {
            fs::write(file, "").unwrap();
        }
        let mut watcher = watching(&stays);
        watcher.add(&goes).unwrap();
        watcher.add(&full.0).unwrap();
        // Equal events that follow one another are one.
        for number in 0..most + 100 {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            fs::set_permissions(&noise[number % 2], mode).unwrap();
        }
        fs::rename(&goes, place.at("gone")).unwrap();
        while watcher.next_event().await.unwrap() != Event::Overflow {}
        assert_eq!(watcher.next_event().await.unwrap(), Event::Removed(goes.clone()));
        watcher.remove(&goes).unwrap_err();
        fs::write(&stays, "text").unwrap();
        assert_eq!(watcher.next_event().await.unwrap(), Event::Modified(stays));
    });
}

fn is_done(program: &str, arguments: &[&str]) -> bool {
    let done = Command::new(program).args(arguments).output();
    done.is_ok_and(|output| output.status.success())
}

#[test]
fn an_unmount_is_reported() {
    run(async {
        let place = Place::new("unmount");
        let inner = place.at("inner");
        fs::create_dir(&inner).unwrap();
        let path = inner.to_str().unwrap();
        if !is_done("mount", &["-t", "tmpfs", "colored-test", path]) {
            eprintln!("skipped: this process may not mount a file system");
            return;
        }
        let file = inner.join("file");
        fs::write(&file, "").unwrap();
        let mut watcher = watching(&inner);
        watcher.add(&file).unwrap();
        // Lazily, so that it never fails because somebody looks.
        assert!(is_done("umount", &["-l", path]));
        let mut seen = [watcher.next_event().await.unwrap(), watcher.next_event().await.unwrap()];
        seen.sort_by_key(|event| format!("{event:?}"));
        assert_eq!(seen, [Event::Removed(inner.clone()), Event::Removed(file.clone())]);
        watcher.remove(&inner).unwrap_err();
        // What is below it now.
        watcher.add(&inner).unwrap();
        fs::write(&file, "").unwrap();
        assert_eq!(watcher.next_event().await.unwrap(), Event::Created(file));
    });
}

/// A process that changes its directory watches what it has added.
#[test]
fn a_relative_path_is_looked_up_where_it_was_added() {
    // The directory belongs to the process, so this test does not change it: the path is relative to the present one.
    run(async {
        let place = Place::new("relative");
        let depth = std::env::current_dir().unwrap().components().count() - 1;
        let root = "../".repeat(depth);
        let file = place.at("file");
        fs::write(&file, "").unwrap();
        let relative = Path::new(&root).join(file.strip_prefix("/").unwrap());
        let mut watcher = Watcher::new().unwrap();
        watcher.add(&relative).unwrap();
        fs::rename(&file, place.at("gone")).unwrap();
        assert_eq!(watcher.next_event().await.unwrap(), Event::Removed(relative));
    });
}
