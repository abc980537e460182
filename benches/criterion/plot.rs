//! Cases as groups of criterion: each rival of a case is a line of its group.

use colored_benches::measure::Case;
use colored_benches::workload::Row;
use colored_benches::{Mode, Runtimes};
use criterion::{Criterion, Throughput};
use std::time::Duration;

/// Draws every row.
pub(crate) fn draw_rows(criterion: &mut Criterion, on: Runtimes, rows: &[&Row]) {
    for row in rows {
        draw(criterion, row.name, (row.build)(on, Mode::Quick));
    }
}

/// Draws every entry of one case.
pub(crate) fn draw(criterion: &mut Criterion, name: &str, case: Case) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10).measurement_time(Duration::from_secs(1));
    group.warm_up_time(Duration::from_millis(300));
    for mut entry in case.entries {
        let ops = (entry.sample)().ops;
        group.throughput(Throughput::Elements(ops));
        group.bench_function(entry.name, |bencher| {
            bencher.iter_custom(|samples| (0..samples).map(|_| (entry.sample)().cost).sum());
        });
    }
    group.finish();
}
