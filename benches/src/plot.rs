//! The same cases under criterion, each rival of a case a line of its group.

use crate::measure::{Case, Mode};
use crate::rivals::Runtimes;
use crate::workload::Row;
use criterion::{Criterion, Throughput};
use std::time::Duration;

/// Draws every row.
pub fn rows(criterion: &mut Criterion, rows: &[Row]) {
    let on = Runtimes::start();
    for row in rows {
        case(criterion, row.name, (row.build)(on, Mode::Quick));
    }
}

/// Draws every entry of one case.
pub fn case(criterion: &mut Criterion, name: &str, case: Case) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20).measurement_time(Duration::from_secs(2));
    group.warm_up_time(Duration::from_millis(500));
    for mut entry in case.entries {
        let ops = (entry.sample)().ops;
        group.throughput(Throughput::Elements(ops));
        group.bench_function(entry.name, |bencher| {
            bencher.iter_custom(|samples| (0..samples).map(|_| (entry.sample)().cost).sum());
        });
    }
    group.finish();
}
