//! One connection, one small message there and back.

use colored_benches::{plot, workload::echo::ROWS};
use criterion::{Criterion, criterion_group, criterion_main};

fn bench(criterion: &mut Criterion) {
    plot::rows(criterion, ROWS);
}

criterion_group!(benches, bench);
criterion_main!(benches);
