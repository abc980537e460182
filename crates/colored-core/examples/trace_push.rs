//! What a record of the flight recorder costs its writer: `cargo run --release -p colored-core --example trace_push`.

use colored_core::Color;
use colored_core::trace::{Event, Record, Ring};
use std::hint::black_box;
use std::time::Instant;

const PUSHES: u64 = 20_000_000;

/// The time of a push in nanoseconds.
fn each(ring: &Ring, record: impl Fn(u64) -> Record) -> f64 {
    let begin = Instant::now();
    (0..PUSHES).for_each(|number| black_box(ring).push(record(number)));
    begin.elapsed().as_nanos() as f64 / PUSHES as f64
}

fn main() {
    let begin = Instant::now();
    for bytes in [64 << 10, 1 << 20, 16 << 20] {
        let ring = Ring::new(bytes);
        ring.allocate();
        let alone = each(&ring, |number| {
            let color = Color::new(number);
            Record {
                nanos: number,
                event: Event::Slice { color, ran: number, queued: 5, polls: 3 },
            }
        });
        let with_a_clock = each(&ring, |number| {
            let nanos = begin.elapsed().as_nanos() as u64;
            Record { nanos, event: Event::Parked { slept: number } }
        });
        let start = Instant::now();
        let records = ring.copy().records.len();
        let copy = start.elapsed();
        println!(
            "{bytes} B: {alone:.1} ns, with a clock {with_a_clock:.1} ns; a copy of {records}: {copy:?}"
        );
    }
}
