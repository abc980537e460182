//! G5: different colors never share a lane, and a lane lives as long as it is used.

use colored::{Color, Handle, spawn_colored, spawn_unique, yield_now};
use colored_tests::witness::Witness;
use colored_tests::{block, child, join_all, process, run, runtime, shared, soak, wait_until};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

/// Shows G5.
#[test]
fn millions_of_colors_one_after_another_leave_memory_flat() {
    shared(|| {
        child::run(
            module_path!(),
            "millions_of_colors_one_after_another_leave_memory_flat",
            millions_of_colors,
        );
    });
}

fn millions_of_colors() {
    const WARM_UP: u64 = 200_000;
    let colors = soak::times(soak::repeat(300_000, 1_000_000) as u64, 10_000_000);
    let runtime = runtime(2);
    visit(&runtime, 0..WARM_UP);
    let before = process::resident();
    visit(&runtime, WARM_UP..WARM_UP + colors);
    let grown = process::resident().saturating_sub(before);
    // One lane for each color would take a hundred million bytes at the least. The allocator keeps more while a worker
    // has no CPU: 4.1 MiB were seen beside eight busy threads.
    assert!(grown < 16 << 20, "{colors} colors left {grown} bytes behind");
    // The default color stays; the last of the others retires when its slice ends.
    wait_until(|| runtime.metrics().colors == 1);
}

/// Runs one task under each of these colors, in two lines of batches.
fn visit(runtime: &colored::Runtime, colors: std::ops::Range<u64>) {
    let (from, to, half) = (colors.start, colors.end, (colors.start + colors.end) / 2);
    let lines = [from..half, half..to].map(|colors| runtime.handle().spawn_unique(line(colors)));
    runtime.run(async move {
        join_all(lines).await;
    });
}

async fn line(colors: std::ops::Range<u64>) {
    const BATCH: u64 = 64;
    let done = Arc::new(AtomicU64::new(0));
    for color in colors {
        let ours = Arc::clone(&done);
        let visit = async move {
            ours.fetch_add(1, Ordering::Release);
        };
        // Spread over all bits, so that no part of the key stays the same.
        drop(spawn_colored(color.wrapping_mul(0x9e37_79b9_7f4a_7c15), visit));
        if color % BATCH == 0 {
            while Arc::strong_count(&done) > 1 {
                yield_now().await;
            }
        }
    }
    while Arc::strong_count(&done) > 1 {
        yield_now().await;
    }
}

/// All tasks are inside their polls at once, so no two share a lane. There are more of them than a
/// table of up to 128 places can hold apart, so some colors share a place, whatever the hash is.
/// Shows G5.
#[test]
fn colors_that_share_a_hash_overlap_in_time() {
    const COLORS: usize = 129;
    shared(|| {
        let runtime = runtime(COLORS + 1);
        let strides = [1, 64, 1 << 20, 1 << 40, 1 << 56];
        for stride in strides {
            let meeting = Arc::new(Barrier::new(COLORS));
            let tasks: Vec<_> = (1..=COLORS as u64)
                .map(|color| {
                    let meeting = Arc::clone(&meeting);
                    let meet = async move {
                        let _ = meeting.wait();
                    };
                    runtime.handle().spawn_colored(color.wrapping_mul(stride), meet)
                })
                .collect();
            runtime.run(async move {
                join_all(tasks).await;
            });
        }
    });
}

/// Shows G5.
#[test]
fn a_color_has_one_lane_for_all_threads_that_name_it() {
    run(4, async {
        let unique = spawn_unique(async { Color::current().unwrap() }).await.unwrap();
        let witness = Arc::new(Witness::default());
        let tasks = (0..4_000u64).map(|i| {
            let witness = Arc::clone(&witness);
            let color = if i % 2 == 0 { unique } else { Color::of("the same") };
            spawn_colored(color, async move {
                if color.is_unique() {
                    witness.touch();
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        assert_eq!(witness.count(), 2_000);
    });
}

/// A color of its own becomes findable when its task asks for it: from then on others may join.
/// Shows G5.
#[test]
fn a_unique_color_can_be_joined_while_its_task_lives() {
    run(4, async {
        for _ in 0..500 {
            let witness = Arc::new(Witness::default());
            let (tell, told) = colored::sync::oneshot::channel();
            let first = Arc::clone(&witness);
            let owner = spawn_unique(async move {
                tell.send(Color::current().unwrap()).unwrap();
                for _ in 0..20 {
                    first.touch();
                    yield_now().await;
                }
            });
            let color = told.await.unwrap();
            let joiner = Arc::clone(&witness);
            let joined = spawn_colored(color, async move {
                assert_eq!(Color::current(), Some(color));
                for _ in 0..20 {
                    joiner.touch();
                    yield_now().await;
                }
            });
            owner.await.unwrap();
            joined.await.unwrap();
            assert_eq!(witness.count(), 40);
        }
    });
}

/// iroh#4272: a lane that retires while a thread spawns on its color is revived, not lost.
/// Shows G5.
#[test]
fn a_lane_that_retires_is_revived_by_a_racing_spawn() {
    shared(|| {
        let runtime = runtime(4);
        let witness = Arc::new(Witness::default());
        let spawners: Vec<_> = (0..2)
            .map(|_| {
                let (handle, witness) = (runtime.handle().clone(), Arc::clone(&witness));
                thread::spawn(move || {
                    for round in 0..20_000 {
                        let witness = Arc::clone(&witness);
                        drop(handle.spawn_colored(9, async move { witness.touch() }));
                        // Long enough, often, for the lane to be idle and unreferenced.
                        (0..round % 64).for_each(|_| std::hint::spin_loop());
                    }
                })
            })
            .collect();
        spawners.into_iter().for_each(|spawner| spawner.join().unwrap());
        runtime.run(async { spawn_colored(9, async {}).await.unwrap() });
        assert_eq!(witness.count(), 40_000);
        wait_until(|| runtime.metrics().colors == 1);
    });
}

/// asio#147, icinga2#10825: a stuck color delays no color whose key shares a bucket with it.
/// Shows G5.
#[test]
fn a_hundred_thousand_live_colors_do_not_wait_for_a_stuck_one() {
    const COLORS: u64 = 100_000;
    run(2, async {
        let over = Arc::new(AtomicBool::new(false));
        let stuck = Arc::clone(&over);
        let stuck = spawn_colored(COLORS, async move {
            while !stuck.load(Ordering::Acquire) {
                block(Duration::from_millis(1));
            }
        });
        let (wake, _) = colored::sync::broadcast::channel::<()>(1);
        let tasks: Vec<_> = (0..COLORS)
            .map(|color| {
                let mut woken = wake.subscribe();
                spawn_colored(color, async move { woken.recv().await.unwrap() })
            })
            .collect();
        assert!(Handle::current().metrics().colors as u64 >= COLORS);
        wake.send(()).unwrap();
        join_all(tasks).await;
        assert!(!stuck.is_finished(), "the stuck one was to be stuck all the time");
        over.store(true, Ordering::Release);
        stuck.await.unwrap();
    });
}
