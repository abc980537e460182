use super::{Fault, Report, Window, assert_first, changing, idle, ms, steady, us};
use crate::report::Limit;
use crate::usage::SiteUsage;
use colored_core::{Color, Priority};
use std::panic::Location;
use std::time::Duration;

fn orders() -> Color {
    Color::named("orders")
}

/// A color that is so busy, percent, with so many in line, on 4 workers whose load is this in CPUs beside it.
fn hot(busy: u64, queue: f64, others: u64) -> Window {
    let mut window = idle(4).with(orders(), busy * 10, us(100), 8).waiting(queue);
    for other in 0..others {
        window = window.with(1000 + other, 100, us(100), 1);
    }
    window
}

/// Accounts that a `when` keeps while it waits for the bank.
#[test]
fn colors_that_wait_for_a_hot_one_do_not_limit() {
    let bank = idle(2).with(1, 1000, us(95), 8).waiting(18.0);
    let window = (10..30).fold(bank, |window, color| window.with(color, 50, us(5), 1).kept(ms(95)));
    let report = steady(&window);
    assert_first(&report, Fault::HotColor);
    assert_eq!(report.findings[0].color, Some(Color::new(1)));
    assert!(report.findings[0].sentence.contains("at most 2.0 times, then the CPUs"), "{report}");
}

#[test]
fn a_color_is_hot_if_it_is_busy_and_waited_for() {
    assert_first(&steady(&hot(93, 4.1, 2)), Fault::HotColor);
    assert_first(&steady(&hot(81, 0.6, 0)), Fault::HotColor);
    assert_first(&steady(&hot(79, 3.9, 0)), None);
    assert_first(&steady(&hot(71, 4.1, 0)), Fault::HotColor);
    assert_first(&steady(&hot(69, 9.0, 0)), None);
    assert_first(&steady(&hot(93, 0.4, 2)), None);
}

#[test]
fn the_sentence_has_the_numbers_and_the_bound() {
    let report = steady(&hot(93, 4.1, 8));
    let text = report.to_string();
    let line = text.lines().next().unwrap();
    assert_eq!(
        line,
        "hot-color: color \"orders\" limits: 93 % busy, tasks wait for it 4.1 s a second; splitting it gives at most 2.3 times, \
         then the CPUs"
    );
    assert!((report.ceiling - 1.0 / 0.93).abs() < 1e-6, "{report:?}");
    assert_eq!(report.limit, Some(Limit::Color(orders())));
    assert!(text.contains("a turn of it runs 100 µs, and waits 441 µs for the color"), "{text}");
    assert!(text.contains("\n  to mend it: "), "{text}");
}

#[test]
fn a_color_that_the_cpus_limit_as_well_is_not_hot() {
    // Four workers at 95 %: a split gives nothing.
    assert_first(&steady(&hot(95, 8.0, 28)), None);
    assert_first(&steady(&hot(95, 8.0, 20)), Fault::HotColor);
}

#[test]
fn fewer_cpus_than_workers_bound_the_gain() {
    let mut window = hot(95, 8.0, 9);
    assert_first(&steady(&window), Fault::HotColor);
    window.cpus = 2;
    assert_first(&steady(&window), None);
}

#[test]
fn two_hot_colors_are_split_together() {
    let window = hot(93, 4.0, 1).with(7, 900, us(100), 8).waiting(3.0);
    let report = steady(&window);
    assert_first(&report, Fault::HotColor);
    assert!(report.findings[0].sentence.contains("and another color limit: "), "{report}");
    assert!(
        report.findings[0].sentence.contains("splitting them gives at most 2.1 times"),
        "{report}"
    );
}

#[test]
fn a_burst_is_not_a_hot_color() {
    // Full for 6 of 10 parts, with a long line.
    let part = |at| if at < 6 { hot(100, 300.0, 0) } else { hot(60, 0.1, 0) };
    assert_first(&changing(part), None);
    let part = |at| if at < 8 { hot(100, 300.0, 0) } else { hot(60, 0.1, 0) };
    assert_first(&changing(part), Fault::HotColor);
}

#[test]
fn bursts_one_after_the_other_are_not_a_hot_color_if_each_drains() {
    let part = |at| if at % 2 == 0 { hot(100, 300.0, 0) } else { hot(50, 30.0, 0) };
    assert_first(&changing(part), None);
    assert_first(&changing(|at| hot(74 + at % 2, 60.0, 0)), Fault::HotColor);
}

#[test]
fn turns_that_are_longer_than_a_window_are_no_pauses() {
    let part =
        |at| if at % 2 == 1 { idle(4).with(orders(), 1, ms(190), 1).waiting(9.0) } else { idle(4) };
    assert_first(&changing(part), Fault::HotColor);
}

#[test]
fn the_default_color_is_named_with_the_places_that_fill_it() {
    let mut window = idle(2).with(Color::DEFAULT, 900, us(100), 8).waiting(5.0);
    let site = Location::caller();
    window.sites = vec![
        SiteUsage {
            site: Some(site),
            run_default: ms(60),
            run_colored: ms(1),
            error: Duration::ZERO,
        },
        SiteUsage {
            site: None,
            run_default: ms(30),
            run_colored: Duration::ZERO,
            error: Duration::ZERO,
        },
    ];
    let report = steady(&window);
    assert_first(&report, Fault::DefaultColor);
    let place = format!("67 % of it are tasks spawned at {site}");
    assert!(report.findings[0].evidence.contains(&place), "{report}");
    let callbacks = "33 % of it are callbacks of cells".to_owned();
    assert!(report.findings[0].evidence.contains(&callbacks), "{report}");
}

#[test]
fn a_color_that_is_kept_longer_than_it_runs_is_a_convoy() {
    let kept = |run: u64, kept, queue| {
        idle(2)
            .with_usage(orders(), Priority::Normal, |usage| {
                usage.run = ms(run);
                (usage.turns, usage.waits) = (100, 100);
            })
            .kept(ms(kept))
            .waiting(queue)
    };
    assert_first(&steady(&kept(2, 90, 12.0)), Fault::Convoy);
    assert_first(&steady(&kept(2, 50, 12.0)), Fault::Convoy);
    assert_first(&steady(&kept(2, 47, 12.0)), None);
    assert_first(&steady(&kept(2, 90, 0.4)), None);
    // Run more than kept.
    assert_first(&steady(&kept(50, 45, 12.0)), Fault::HotColor);
    assert_first(&steady(&kept(45, 50, 12.0)), Fault::Convoy);
}

#[test]
fn without_measured_waits_no_color_is_blamed() {
    let mut window = hot(93, 0.0, 2);
    window.measures_waits = false;
    let report = steady(&window);
    assert_first(&report, None);
    assert!(!report.measures_waits && report.limit == Some(Limit::Color(orders())), "{report:?}");
}

#[test]
fn json_has_the_findings_and_the_numbers() {
    let report: Report = steady(&hot(93, 4.1, 8));
    let json = report.to_json();
    assert!(
        json.starts_with(r#"{"fault":"hot-color","sentence":"color \"orders\" limits"#),
        "{json}"
    );
    assert!(
        json.contains(r#""findings":[{"fault":"hot-color","color":"color \"orders\"","sentence":"#),
        "{json}"
    );
    assert!(json.contains(r#""length":1.000000000,"ceiling":1.075"#), "{json}");
    assert!(
        json.contains(
            r#""limit":"color \"orders\"","load":0.4325,"delayed":0,"measures_waits":true,"looks":0,"waits":[]}"#
        ),
        "{json}"
    );
    let none = steady(&idle(2)).to_json();
    assert!(
        none.contains(r#""fault":null"#) && none.contains(r#""ceiling":null,"limit":null"#),
        "{none}"
    );
}

#[test]
fn a_delay_by_other_programs_is_noted() {
    let delayed = |time| steady(&hot(93, 4.1, 2).delayed(time)).to_string();
    let note = "\nnote: for 30 % of the time in which workers could have run, the system ran other threads";
    assert!(delayed(us(33_900)).ends_with(note), "{}", delayed(us(33_900)));
    assert!(!delayed(ms(20)).contains("note"), "{}", delayed(ms(20)));
}

/// Other programs take half of the time of each worker.
#[test]
fn a_neighbour_on_the_machine_is_told_beside_the_verdict_and_does_not_change_it() {
    let note = "for 50 % of the time in which workers could have run, the system ran other threads";
    let both = |other: u64| {
        let window = idle(2).with(1, 980, us(100), 8).waiting(6.0).with(2, other, us(100), 8);
        if other > 900 { window.waiting(6.0) } else { window }
    };
    // The CPUs limit two colors that are always runnable, and one that is hot limits beside another with little to do.
    for (other, fault) in [(980, None), (300, Some(Fault::HotColor))] {
        assert_first(&steady(&both(other)), fault);
        let half = ms((98 + other / 10) / 2);
        let report = steady(&both(other).delayed(half));
        assert_first(&report, fault);
        assert!(report.to_string().contains(note), "{report}");
    }
}

/// On a full machine the color is busy when the system lets it, which says little. Nearly everything waits for it.
#[test]
fn where_others_take_the_cpus_what_waits_tells_the_hot_color() {
    let window = |run: u64, queue: f64, others: u64| {
        let window = idle(2).with(orders(), run, us(100), 8).waiting(queue);
        // Tasks that order are preempted, too.
        (0..others).fold(window, |window, other| window.with(10 + other, 100, us(100), 1))
    };
    // Each worker had a CPU for two fifths of the time in which it could have run.
    let delayed = |window: Window| {
        let run = window.workers.iter().map(|worker| worker.run).sum::<Duration>();
        window.delayed(run * 3 / 5)
    };
    let report = steady(&delayed(window(550, 38.0, 2)));
    assert_first(&report, Fault::HotColor);
    let sentence = &report.findings[0].sentence;
    assert!(
        sentence
            .starts_with("color \"orders\" limits: of 38 that wait on average, 38 wait for it; "),
        "{sentence}"
    );
    assert_first(&steady(&window(550, 38.0, 2)), None);
    // A few wait, or as many for others.
    assert_first(&steady(&delayed(window(550, 3.0, 2))), None);
    let other = delayed(window(550, 20.0, 0).with(99, 100, us(100), 1).waiting(20.0));
    assert_first(&steady(&other), None);
}
