//! Who keeps a color, and tasks that wait alike.

use super::json;
use colored::dump::{KeptBy, TaskState};
use colored::sync::Mutex;
use colored::{Color, Dump, Runtime, exclusive, when};
use colored_tests::{runtime, shared};
use std::future::pending;
use std::panic::Location;
use std::sync::Arc;
use std::thread;

/// A dump in which this is so.
fn dump_when(runtime: &Runtime, is_so: impl Fn(&Dump) -> bool) -> Dump {
    loop {
        let dump = runtime.handle().dump();
        if is_so(&dump) {
            return dump;
        }
        thread::yield_now();
    }
}

/// The tasks behind it have never been polled.
/// Shows G14.
#[test]
fn the_section_that_keeps_a_color_is_named_in_place_of_a_turn() {
    shared(|| {
        let runtime = runtime(2);
        let color = Color::named("kept in a dump");
        let lock = Arc::new(Mutex::new(()));
        let _held = lock.try_lock().unwrap();
        let own = Arc::clone(&lock);
        let line = line!() + 2;
        let keeps = runtime.spawn_colored(color, async move {
            exclusive(async move { drop(own.lock().await) }).await;
        });
        dump_when(&runtime, |dump| dump.keepers().len() == 1);
        let behind: Vec<_> = (0..2).map(|_| runtime.spawn_colored(color, async {})).collect();
        let dump = dump_when(&runtime, |dump| {
            behind.iter().all(|task| dump.tasks().any(|seen| seen.id() == task.id()))
        });
        for task in &behind {
            let seen = dump.tasks().find(|seen| seen.id() == task.id()).unwrap();
            let keeper = seen.kept_by().expect("another task keeps its color");
            assert_eq!(
                (keeper.task, keeper.by, keeper.color),
                (keeps.id(), KeptBy::Section, color)
            );
            assert_eq!(keeper.site.line(), line);
            assert_eq!(seen.state(), TaskState::Queued);
        }
        let keeper = dump.tasks().find(|seen| seen.id() == keeps.id()).unwrap();
        assert!(keeper.kept_by().is_none());
        let text = dump.to_string();
        let head = format!("{color}\n  kept by the section at {}:{line}:", file!());
        assert!(text.contains(&head), "{text}");
        assert!(text.contains("waits for its color, which is kept"), "{text}");
        assert!(text.contains(", 2 wait for a color that is kept. "), "{text}");
        assert!(text.contains("    waits for a lock, at "), "{text}");
        assert!(!text.contains("has a turn coming"), "{text}");
        let all = dump.to_json();
        json::check(&all);
        assert!(all.contains(r#""kept":[{"color":"color \"kept in a dump\"","#), "{all}");
    });
}

/// Shows G14.
#[test]
fn a_when_that_has_a_color_keeps_it() {
    shared(|| {
        let runtime = runtime(2);
        let [had, lacked] = [801, 802].map(|color| runtime.handle().cell(color, 0));
        let keeps = runtime.spawn_colored(802, exclusive(pending::<()>()));
        dump_when(&runtime, |dump| dump.keepers().len() == 1);
        let site = Location::caller();
        let wants = runtime.spawn_unique(async move {
            when((&had, &lacked), |one, other| *one += *other).await;
        });
        let dump = dump_when(&runtime, |dump| dump.keepers().len() == 2);
        let [of_when, of_section] = [801, 802].map(|color| {
            dump.keepers().find(|keeper| keeper.color == Color::new(color)).expect("it is kept")
        });
        assert_eq!((of_when.task, of_when.by), (wants.id(), KeptBy::When));
        assert_eq!(of_when.site.line(), site.line() + 2);
        assert_eq!((of_section.task, of_section.by), (keeps.id(), KeptBy::Section));
        assert_eq!(dump.unread(), [Color::new(801)]);
        let text = dump.to_string();
        assert!(text.contains("color 0x321: kept by the when at "), "{text}");
    });
}

/// Shows G14.
#[test]
fn ten_thousand_clients_are_a_few_lines() {
    shared(|| {
        let runtime = runtime(2);
        for _ in 0..10_000 {
            drop(runtime.handle().spawn_unique(pending::<()>()));
        }
        let alone = runtime.spawn_colored(5, pending::<()>());
        let dump = dump_when(&runtime, |dump| {
            let waits = dump.tasks().filter(|task| task.state() == TaskState::Waiting);
            waits.count() == 10_001
        });
        let text = dump.to_string();
        assert!(text.lines().count() < 20, "{text}");
        let group = "10000 tasks (spawned at tests/dump/kept.rs:";
        assert!(text.contains(group), "{text}");
        assert!(text.contains(" wait alike, under 10000 colors; one is task "), "{text}");
        assert!(text.contains("    waits for something of its own\n"), "{text}");
        assert!(text.contains(&format!("color 0x5\n  {:?} (spawned at ", alone.id())), "{text}");
        // Programs get all of them.
        assert_eq!(dump.tasks().len(), 10_001);
    });
}
