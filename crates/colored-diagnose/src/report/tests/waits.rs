//! Waits that were seen by looks at the tasks.

use super::{Fault, Report, Window, assert_first, changing, idle, ms, steady, us};
use crate::usage::{KeptColor, WaitGroup, WaitOfKeeper, Waits};
use colored_core::Color;
use std::panic::Location;

const LOCK: &str = "waits for a lock";

/// Tasks of one place that wait; their number also says which ones they are.
#[track_caller]
fn group(what: &'static str, how: &'static str, tasks: u64) -> WaitGroup {
    WaitGroup {
        what,
        how,
        color: None,
        site: Some(Location::caller()),
        spawned: Location::caller(),
        tasks,
        oldest: Some(ms(7)),
        example: colored_core::Id::from_number(9).expect("it is not 0"),
        lock: 0,
        members: tasks,
    }
}

impl Window {
    /// With one look, which has found these.
    fn look(mut self, groups: Vec<WaitGroup>, kept: Vec<KeptColor>) -> Self {
        let locks = groups.iter().filter(|group| group.what == "lock").cloned().collect();
        self.waits = vec![Waits { groups, locks, kept, ..Waits::default() }];
        self
    }
}

/// Some tasks wait for a lock, others in each part.
fn locked(at: u64) -> Vec<WaitGroup> {
    vec![WaitGroup { members: at, ..group("lock", LOCK, 3) }]
}

#[test]
fn a_lock_that_is_waited_for_nearly_all_the_time_limits() {
    let report = changing(|at| idle(2).look(locked(at), vec![]));
    assert_first(&report, Fault::LockWait);
    let (site, text) = (report.findings[0].site.expect("it has a place"), report.to_string());
    assert!(text.contains(&format!("3 tasks wait for a lock at {site} nearly all")), "{text}");
    assert!(text.contains("the oldest for 7.0 ms"), "{text}");
    // Nine of ten looks are nearly all, eight are not.
    let part = |free: u64| {
        changing(move |at| idle(2).look(if at < free { vec![] } else { locked(at) }, vec![]))
    };
    assert_first(&part(1), Fault::LockWait);
    assert_first(&part(2), None);
}

#[test]
fn a_lock_beside_full_cpus_is_not_named() {
    let full =
        |at| idle(2).with(1, 900, us(100), 1).with(2, 900, us(100), 1).look(locked(at), vec![]);
    assert_first(&changing(full), None);
}

#[test]
fn permits_and_several_locks_of_one_place_are_no_fault() {
    let permits = |at| vec![WaitGroup { members: at, ..group("permit", "waits for a permit", 9) }];
    assert_first(&changing(|at| idle(2).look(permits(at), vec![])), None);
    // Each look finds another lock.
    let keys = |at: u64| vec![WaitGroup { lock: at as u32, members: at, ..group("lock", LOCK, 9) }];
    assert_first(&changing(|at| idle(2).look(keys(at), vec![])), None);
}

/// Half of the looks find a reader of it, the others a writer.
#[test]
fn a_lock_that_is_waited_for_at_two_places_is_one_lock() {
    let look = |at: u64| {
        let here =
            if at.is_multiple_of(2) { Location::caller() } else { group("lock", LOCK, 1).spawned };
        vec![WaitGroup { site: Some(here), members: at, ..group("lock", LOCK, 2) }]
    };
    assert_first(&changing(|at| idle(2).look(look(at), vec![])), Fault::LockWait);
}

/// Workers that share a receiver by a lock: one of them has it.
#[test]
fn those_who_wait_for_a_lock_are_idle_if_one_like_them_waits_for_something_from_outside() {
    let waits = vec![group("lock", LOCK, 3)];
    let report = steady(&idle(2).look(waits.clone(), vec![]));
    assert_first(&report, Fault::LockWait);
    assert!(report.to_string().contains("none of them has got it meanwhile"), "{report}");
    let mut one = group("receive", "waits for a value of a channel", 1);
    one.spawned = waits[0].spawned;
    let idle_pool = idle(2).look(vec![waits[0].clone(), one], vec![]);
    let report = steady(&idle_pool);
    assert_first(&report, None);
    let text = report.to_string();
    assert!(text.starts_with("none: no color and no CPU limits the program"), "{text}");
    assert!(text.contains("\nwaits: 3 tasks spawned at "), "{text}");
}

fn kept(by: &'static str, time: u64, waits_for: Option<&'static str>) -> KeptColor {
    let here = Location::caller();
    let wait = |what| WaitOfKeeper { what, text: LOCK.into(), site: Some(here), time: None };
    KeptColor {
        color: Color::named("kept"),
        task: colored_core::Id::from_number(3).expect("it is not 0"),
        spawned: here,
        by,
        site: here,
        time: ms(time),
        queued: 7,
        waits_for: waits_for.map(wait),
    }
}

#[test]
fn a_color_that_is_kept_is_named_though_no_task_of_it_had_a_turn() {
    // Each part another section.
    let report = changing(|at| idle(2).look(vec![], vec![kept("section", 90 - at, None)]));
    assert_first(&report, Fault::Convoy);
    let text = report.to_string();
    assert!(text.contains("color \"kept\" is kept across awaits 100 % of the time"), "{text}");
    assert!(text.contains("it is kept by the section at "), "{text}");
    let half = |at| {
        let seen = if at % 2 == 0 { vec![kept("section", 9, None)] } else { vec![] };
        idle(2).look(vec![], seen)
    };
    assert_first(&changing(half), None);
}

#[test]
fn a_section_that_does_not_end_is_stuck_and_a_lock_in_it_may_be_a_deadlock() {
    let stuck = |what| {
        changing(move |at| {
            let lock = WaitGroup { site: Some(Location::caller()), ..group("lock", LOCK, 1) };
            let kept = kept("section", 800 + 100 * at, what);
            let lock = WaitGroup { site: kept.waits_for.as_ref().and_then(|of| of.site), ..lock };
            idle(2).look(if what.is_some() { vec![lock] } else { vec![] }, vec![kept])
        })
    };
    let report = stuck(Some("lock"));
    assert_first(&report, Fault::StuckColor);
    assert_eq!(report.findings.len(), 1, "the lock is a part of it: {report}");
    assert_eq!(report.findings[0].color, Some(Color::named("kept")));
    assert!(report.to_string().contains("this is a deadlock"), "{report}");
    assert!(report.to_string().contains("7 tasks wait for the color"), "{report}");
    assert_first(&stuck(None), Fault::StuckColor);
}

#[test]
fn what_a_when_keeps_while_it_waits_for_cpus_is_no_convoy() {
    let window = |by, full: bool| {
        let turns = if full { 900 } else { 1 };
        let window = idle(2).with(1, turns, us(100), 1).with(2, turns, us(100), 1);
        changing(move |at| window.clone().look(vec![], vec![kept(by, 90 - at, None)]))
    };
    assert_first(&window("when", true), None);
    assert_first(&window("section", true), Fault::Convoy);
    let report = window("when", false);
    assert_first(&report, Fault::Convoy);
    assert!(!report.findings[0].remedy.contains("await before the section"), "{report}");
}

#[test]
fn a_wait_that_is_not_known_is_shown_as_unknown() {
    let own = || group("other", "waits for something of its own", 2);
    let many = |what, tasks| group(what, "waits for something else", tasks);
    let old = WaitGroup { oldest: Some(ms(90_000)), ..group("timer", "sleeps", 1) };
    let groups = vec![many("readable", 40), many("receive", 30), many("permit", 20), own(), old];
    let report = steady(&idle(2).look(groups, vec![]));
    let text = report.to_string();
    assert_eq!(text.lines().filter(|line| line.starts_with("waits: ")).count(), 4, "{text}");
    assert!(text.ends_with("; the longest for 90 s"), "the oldest is there as well: {text}");
    let report = steady(&idle(2).look(vec![own()], vec![]));
    let text = report.to_string();
    assert!(text.contains("2 tasks spawned at ") && text.contains("of its own"), "{text}");
    assert!(!text.contains("nothing limits"), "{text}");
    assert!(steady(&idle(2)).to_string().contains("waits: not looked at"));
    assert!(report.to_json().contains(r#""waits":[{"for":"other","color":null,"site":"#));
}

#[test]
fn a_unique_color_is_named_by_the_place_of_its_task() {
    let (color, here) = (Color::unique(), Location::caller());
    let mut window = idle(2).with(color, 950, us(100), 8).waiting(6.0);
    window.waits = vec![Waits { unique: vec![(color, here)], ..Waits::default() }];
    let report: Report = steady(&window);
    assert_first(&report, Fault::HotColor);
    let name = format!("{color} (of a task spawned at {here}) limits");
    assert!(report.to_string().contains(&name), "{report}");
}
