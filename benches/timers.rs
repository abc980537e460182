//! Sleeping tasks that are cancelled.

use colored_benches::{Runtimes, plot, workload::timers};
use criterion::{Criterion, criterion_group, criterion_main};

fn bench(criterion: &mut Criterion) {
    plot::case(criterion, "sleeping_tasks", timers::plotted(Runtimes::start()));
}

criterion_group!(benches, bench);
criterion_main!(benches);
