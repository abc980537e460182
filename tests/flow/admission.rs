//! `Admission` on real colors. The unit tests beside its code test its decisions in virtual time.

use colored::admission::{Admission, Overloaded};
use colored::{Color, spawn_unique};
use colored_tests::gate::Gate;
use colored_tests::{block, panic_of, run, runtime, shared};
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const RED: Color = Color::new(1);

#[test]
fn work_that_waits_for_too_long_is_shed_unpolled() {
    shared(|| {
        let runtime = runtime(2);
        let admission = Admission::new(Duration::from_millis(100));
        let gate = Gate::close(runtime.handle(), RED);
        let polled = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..10)
            .map(|_| {
                let polled = Arc::clone(&polled);
                let permit = admission.admit().expect("it was idle");
                let work = async move { polled.fetch_add(1, Ordering::Relaxed) };
                runtime.handle().spawn_colored(RED, permit.run(work))
            })
            .collect();
        assert_eq!((admission.metrics().waiting, admission.metrics().admitted), (10, 10));
        block(Duration::from_millis(250));
        assert!(admission.delay() >= Duration::from_millis(250), "seen while nothing moves");
        let refused = admission.admit().map(drop).unwrap_err();
        assert!(!refused.was_admitted() && refused.to_string().contains("refused"), "{refused}");
        gate.open();
        for task in tasks {
            let shed: Overloaded = runtime.block_on(task).unwrap().unwrap_err();
            assert!(shed.was_admitted() && shed.delay() >= Duration::from_millis(250));
            assert!(shed.to_string().contains("shed"), "{shed}");
        }
        let metrics = admission.metrics();
        assert_eq!((metrics.shed, metrics.rejected, metrics.begun), (10, 1, 0));
        assert_eq!(polled.load(Ordering::Relaxed), 0);
        // Idle again: everything is admitted.
        assert!(admission.admit().unwrap().begin().is_ok());
    });
}

#[test]
fn the_time_before_the_offer_counts() {
    shared(|| {
        const TARGET: Duration = Duration::from_millis(5);
        const WAIT: Duration = Duration::from_millis(6);
        let admission = Admission::new(TARGET);
        // A pause of the machine in between makes it too late: the test tries again.
        let (arrived, permit) = iter::repeat_with(|| {
            let arrived = Instant::now();
            block(WAIT);
            Some((arrived, admission.admit_since(arrived).ok()?))
        })
        .find_map(|admitted| admitted)
        .unwrap();
        // Too late at its turn, counted from its arrival and not from the offer.
        block(WAIT);
        let shed = permit.begin().map(drop).unwrap_err();
        assert!(shed.was_admitted() && shed.delay() >= 2 * WAIT, "{shed}");
        // Too late when it is offered.
        let late = admission.admit_since(arrived).map(drop).unwrap_err();
        assert!(!late.was_admitted() && late.delay() >= 2 * WAIT, "{late}");
        assert!(late.to_string().contains("refused after it had waited"), "{late}");
        // A moment in the future counts as now; a moment before the admission was made counts fully.
        let permit = admission.admit_since(Instant::now() + 1_000 * TARGET).expect("nothing waits");
        block(2 * WAIT);
        assert!(permit.begin().is_err(), "it has waited since it was offered");
        let late = Admission::new(TARGET).admit_since(arrived).map(drop).unwrap_err();
        assert!(late.delay() >= 4 * WAIT, "{late}");
        let metrics = admission.metrics();
        assert_eq!((metrics.admitted, metrics.shed, metrics.begun), (2, 2, 0));
        assert!(metrics.rejected >= 1, "{metrics:?}");
    });
}

#[test]
fn abandoned_work_is_not_counted_as_waiting_or_running() {
    run(2, async {
        let admission = Admission::new(Duration::from_secs(1));
        drop(admission.admit().unwrap());
        drop(admission.admit().unwrap().run(async {}));
        let running = admission.admit().unwrap().begin().unwrap();
        let never = std::future::pending::<()>();
        let task = spawn_unique(admission.admit().unwrap().run(never));
        let clone = admission.clone();
        while clone.metrics().running < 2 {
            colored::yield_now().await;
        }
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        assert_eq!(admission.metrics().running, 1);
        drop(running);
        let metrics = admission.metrics();
        assert_eq!((metrics.admitted, metrics.abandoned, metrics.begun), (4, 2, 2));
        assert_eq!((metrics.waiting, metrics.running), (0, 0));
        assert_eq!(admission.admit().unwrap().run(async { 7 }).await, Ok(7));
    });
}

/// A color gets some four times the work that it can do: no work begins that has waited for longer than two targets,
/// all work is accounted for, and the color stays busy: half of the time at least, by the clock of the work itself,
/// which other processes delay as well as what is between.
#[test]
fn an_overloaded_color_begins_nothing_late_and_loses_nothing() {
    shared(|| {
        const TARGET: Duration = Duration::from_millis(10);
        const WORK: Duration = Duration::from_micros(500);
        let runtime = runtime(2);
        let admission = Admission::new(TARGET);
        let (refused, worked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicU64::new(0)));
        let (start, mut arrivals, mut tasks) = (Instant::now(), 0_u64, Vec::new());
        // Where the machine is so busy that the color keeps up with this thread, it takes longer.
        let is_overloaded = || admission.metrics().rejected > 0 && admission.metrics().begun > 0;
        while start.elapsed() < 40 * TARGET || !is_overloaded() {
            arrivals += 1;
            match admission.admit() {
                Ok(permit) => {
                    let (refused, worked) = (Arc::clone(&refused), Arc::clone(&worked));
                    let work = permit.run(async move {
                        let begin = Instant::now();
                        block(WORK);
                        worked.fetch_add(begin.elapsed().as_micros() as u64, Ordering::Relaxed);
                    });
                    tasks.push(runtime.handle().spawn_colored(RED, async move {
                        if let Err(late) = work.await {
                            assert!(late.delay() > 2 * TARGET);
                            refused.fetch_add(1, Ordering::Relaxed);
                        }
                    }));
                }
                Err(overloaded) => assert!(!overloaded.was_admitted()),
            }
            if arrivals.is_multiple_of(4) {
                block(WORK);
            }
        }
        let offered = start.elapsed();
        tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
        let metrics = admission.metrics();
        assert_eq!((metrics.waiting, metrics.running), (0, 0));
        assert_eq!(metrics.admitted + metrics.rejected, arrivals);
        assert_eq!(metrics.admitted, metrics.begun + metrics.shed);
        assert_eq!(metrics.abandoned, 0);
        assert_eq!(metrics.shed as usize, refused.load(Ordering::Relaxed));
        let worked = Duration::from_micros(worked.load(Ordering::Relaxed));
        assert!(2 * worked > offered, "busy for {worked:?} of {offered:?}: {metrics:?}");
    });
}

#[test]
fn settings_out_of_range_are_named() {
    let year = Duration::from_secs(365 * 24 * 3600);
    for target in [Duration::ZERO, year / 9] {
        let said = panic_of(|| Admission::new(target));
        assert!(said.contains("above zero") && said.contains("up to a year"), "{said}");
    }
    let admission = Admission::new(Duration::from_millis(20));
    assert_eq!(admission.target(), Duration::from_millis(20));
    assert_eq!(admission.interval(), Duration::from_millis(200));
    assert!(format!("{admission:?}").contains("20ms"));
}
