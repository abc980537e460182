//! Tasks that wake and spawn each other.

use colored_benches::{plot, workload::wake};
use criterion::{Criterion, criterion_group, criterion_main};

fn bench(criterion: &mut Criterion) {
    plot::rows(criterion, wake::CHAINS);
    plot::rows(criterion, wake::ROWS);
}

criterion_group!(benches, bench);
criterion_main!(benches);
