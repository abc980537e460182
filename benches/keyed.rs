//! State by key, one task per operation and by message; and how near a skewed load comes to
//! its bound.

use colored_benches::{plot, workload};
use criterion::{Criterion, criterion_group, criterion_main};

fn bench(criterion: &mut Criterion) {
    let rows = [workload::keyed::ROWS, workload::post::ROWS, workload::makespan::ROWS];
    plot::rows(criterion, &rows.concat());
}

criterion_group!(benches, bench);
criterion_main!(benches);
