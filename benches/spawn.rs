//! Spawning empty tasks.

use colored_benches::{plot, workload::spawn::ROWS};
use criterion::{Criterion, criterion_group, criterion_main};

fn bench(criterion: &mut Criterion) {
    plot::rows(criterion, ROWS);
}

criterion_group!(benches, bench);
criterion_main!(benches);
