//! [`Witness`]: what a task checks after each await.

use colored::Color;
use colored::task::JoinSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Of one color: that its tasks are under it, and never two at once.
#[derive(Debug)]
pub(crate) struct Witness {
    color: Color,
    inside: AtomicBool,
    visits: AtomicU64,
}

impl Witness {
    fn new(color: Color) -> Witness {
        Witness { color, inside: AtomicBool::new(false), visits: AtomicU64::new(0) }
    }

    /// To be called after each await.
    ///
    /// # Panics
    ///
    /// If the caller has another color, or another task of this color is in here.
    #[track_caller]
    pub(crate) fn visit(&self) {
        assert_eq!(Color::current(), Some(self.color), "a task has lost its color");
        let other = self.inside.swap(true, Ordering::Relaxed);
        assert!(!other, "two tasks of one color at once");
        // Load and store, so that an overlap that nobody sees loses a visit.
        let visits = self.visits.load(Ordering::Relaxed);
        for _ in 0..100 {
            std::hint::spin_loop();
        }
        self.visits.store(visits + 1, Ordering::Relaxed);
        self.inside.store(false, Ordering::Relaxed);
    }
}

/// Runs `tasks` tasks in each of `colors` colors to their ends, and returns the number of their visits. Each gets the
/// witness of its color, and its number among all.
pub(crate) async fn in_colors<F>(
    colors: u64,
    tasks: u64,
    task: impl Fn(Arc<Witness>, u64) -> F,
) -> u64
where
    F: Future<Output = ()> + Send + 'static,
{
    let witness = |color| Arc::new(Witness::new(Color::of(color)));
    let witnesses: Vec<_> = (0..colors).map(witness).collect();
    let mut set = JoinSet::new();
    for n in 0..colors * tasks {
        let witness = &witnesses[(n % colors) as usize];
        set.spawn_colored(witness.color, task(witness.clone(), n));
    }
    while let Some(ended) = set.join_next().await {
        ended.expect("no task panics");
    }
    witnesses.iter().map(|witness| witness.visits.load(Ordering::Relaxed)).sum()
}

#[test]
fn a_visit_under_another_color_is_seen() {
    let witness = Arc::new(Witness::new(Color::new(1)));
    let visit =
        async move { colored::spawn_colored(Color::new(2), async move { witness.visit() }).await };
    let error = super::alone(visit).unwrap_err();
    assert!(error.to_string().contains("lost its color"), "{error}");
}

#[test]
fn an_overlap_is_seen() {
    let witness = Arc::new(Witness::new(Color::new(1)));
    witness.inside.store(true, Ordering::Relaxed);
    let visit =
        async move { colored::spawn_colored(Color::new(1), async move { witness.visit() }).await };
    let error = super::alone(visit).unwrap_err();
    assert!(error.to_string().contains("at once"), "{error}");
}
