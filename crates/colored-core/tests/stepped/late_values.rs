//! `late_values`: the values of a color that comes to life after its scheduler has stopped.

use crate::doubles::NeverParks;
use colored_core::{Color, ColorLocal, Scheduler, Step};
use std::sync::atomic::{AtomicUsize, Ordering};

static DROPS: AtomicUsize = AtomicUsize::new(0);

struct Own;

impl Drop for Own {
    fn drop(&mut self) {
        DROPS.fetch_add(1, Ordering::Relaxed);
    }
}

static OWN: ColorLocal<Own> = ColorLocal::__new("OWN", || Own);

struct UsesOwn;

impl Drop for UsesOwn {
    fn drop(&mut self) {
        OWN.with(|_| ());
    }
}

/// The end of the values runs inside the push that schedules it.
#[test]
fn the_values_of_a_late_color_are_dropped_once() {
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(NeverParks));
    handle.scheduler().shut_down();
    while workers[0].step() != Step::Stopped {}
    let late = UsesOwn;
    drop(handle.spawn_colored(Color::new(1), async move { drop(late) }));
    assert_eq!(DROPS.load(Ordering::Relaxed), 1);
}
