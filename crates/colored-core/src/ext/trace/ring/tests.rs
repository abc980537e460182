use super::super::{Event, task};
use super::*;
use crate::kernel::color::Color;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A record whose every word depends on its number, so that a torn one equals no record.
fn record(number: u64) -> Record {
    let event = match number % 3 {
        0 => Event::Slice {
            color: Color::new(number * 7),
            ran: number * 3,
            queued: number * 5,
            polls: (number % 64) as u32,
        },
        1 => Event::Wake { by: task(number), task: task(number + 1).expect("not 0") },
        _ => Event::LongPoll { color: Color::new(number), ran: number * 9, task: task(number) },
    };
    Record { nanos: number * 11, event }
}

#[test]
fn a_ring_has_no_memory_until_it_is_used() {
    let ring = Ring::new(4096);
    assert_eq!(ring.copy(), Copied::default());
    assert!(ring.buffer.get().is_none());
    ring.allocate();
    assert_eq!(ring.copy(), Copied::default());
    assert!(ring.buffer.get().is_some());
}

#[test]
fn a_ring_of_4_kib_keeps_the_last_127_records() {
    let ring = Ring::new(4096);
    for number in 0..127 {
        ring.push(record(number));
    }
    let copied = ring.copy();
    assert_eq!(copied.records, (0..127).map(record).collect::<Vec<_>>());
    assert_eq!(copied.overwritten, 0);
    for number in 127..if cfg!(miri) { 131 } else { 1000 } {
        ring.push(record(number));
        let Copied { records, overwritten, dropped } = ring.copy();
        assert_eq!(records, (number - 126..=number).map(record).collect::<Vec<_>>());
        assert_eq!((overwritten, dropped), (number - 126, 0));
    }
}

#[test]
fn capacities_are_powers_of_two() {
    for (bytes, entries) in [(0, 2), (64, 2), (95, 2), (128, 4), (4095, 64), (4096, 128)] {
        assert_eq!(Ring::new(bytes).entries, entries, "{bytes} bytes");
    }
}

/// A reader that races a writer sees records that were pushed, one after the other, and knows how many are lost.
#[test]
fn a_reader_that_races_the_writer_sees_whole_records_in_order() {
    const RECORDS: u64 = if cfg!(miri) { 500 } else { 300_000 };
    let ring = Ring::new(if cfg!(miri) { 256 } else { 4096 });
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut before = 0;
            loop {
                // Ordering: Acquire pairs with the store below: the last copy is made after the last push.
                let is_last = done.load(Ordering::Acquire);
                let Copied { records, overwritten, dropped } = ring.copy();
                for (place, found) in records.iter().enumerate() {
                    assert_eq!(*found, record(overwritten + place as u64));
                }
                assert_eq!(dropped, 0);
                let end = overwritten + records.len() as u64;
                assert!(end >= before, "a copy that ends at {end}, after one at {before}");
                before = end;
                if is_last {
                    return end;
                }
                thread::yield_now();
            }
        });
        for number in 0..RECORDS {
            ring.push(record(number));
        }
        // Ordering: Release, see above.
        done.store(true, Ordering::Release);
        assert_eq!(reader.join().expect("the reader finds no fault"), RECORDS);
    });
}
