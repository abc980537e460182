//! G3: tasks that name no color run as if there were one thread.

use colored::{Color, Handle, spawn, yield_now};
use colored_tests::witness::Witness;
use colored_tests::{join_all, run, runtime, shared};
use std::sync::Arc;
use std::thread;

/// Shows G3.
#[test]
fn a_hundred_thousand_uncolored_tasks_share_state_without_a_lock() {
    let witness = Arc::new(Witness::default());
    let ours = Arc::clone(&witness);
    run(8, async move {
        let handle = Handle::current();
        let spawner = |count: u64| {
            let (handle, witness) = (handle.clone(), Arc::clone(&ours));
            move || {
                for _ in 0..count {
                    let witness = Arc::clone(&witness);
                    drop(handle.spawn(async move {
                        witness.touch();
                        yield_now().await;
                        witness.touch();
                    }));
                }
            }
        };
        // Half of them from tasks, half from threads that the runtime does not know.
        let threads: Vec<_> = (0..4).map(|_| thread::spawn(spawner(12_500))).collect();
        join_all((0..4).map(|_| {
            let batch = spawner(1_250);
            spawn(async move {
                for _ in 0..10 {
                    batch();
                    yield_now().await;
                }
            })
        }))
        .await;
        let joined = move || threads.into_iter().for_each(|thread| thread.join().unwrap());
        handle.spawn_blocking(joined).await.unwrap();
        // This runs behind the first poll of each; the second poll is behind this task's next poll.
        spawn(async {}).await.unwrap();
        spawn(yield_now()).await.unwrap();
    });
    assert_eq!(witness.count(), 200_000);
}

/// Shows G3.
#[test]
fn the_main_future_and_the_guest_are_uncolored_too() {
    shared(|| {
        let runtime = runtime(4);
        let witness = Arc::new(Witness::default());
        let guests: Vec<_> = (0..3)
            .map(|_| {
                let (handle, witness) = (runtime.handle().clone(), Arc::clone(&witness));
                let main = async move {
                    assert_eq!(Color::current(), Some(Color::DEFAULT));
                    for _ in 0..2_000 {
                        witness.touch();
                        yield_now().await;
                    }
                };
                thread::spawn(move || handle.block_on(main))
            })
            .collect();
        let ours = Arc::clone(&witness);
        runtime.run(async move {
            assert_eq!(Color::current(), Some(Color::DEFAULT));
            for _ in 0..2_000 {
                ours.touch();
                let child = Arc::clone(&ours);
                spawn(async move { child.touch() }).await.unwrap();
            }
        });
        guests.into_iter().for_each(|guest| guest.join().unwrap());
        assert_eq!(witness.count(), 3 * 2_000 + 4_000);
    });
}
