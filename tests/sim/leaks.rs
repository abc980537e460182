//! Nothing of one run reaches the next one, though a thread makes several.

use super::{passes, silent};
use colored::sim::Builder;
use colored::sync::mpsc;
use colored::{ColorCell, spawn_colored, spawn_unique, yield_now};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

thread_local! {
    static PLAIN: Cell<u8> = const { Cell::new(3) };
    static LAZY: RefCell<Vec<u8>> = RefCell::new(vec![3]);
    static SELDOM: Cell<u64> = const { Cell::new(3) };
}

/// Some turns of several colors.
async fn turns() {
    let (log, (sender, mut receiver)) = (ColorCell::new(1, 0), mpsc::unbounded_channel());
    for number in 0..3 {
        let (log, sender) = (log.clone(), sender.clone());
        drop(spawn_unique(async move {
            log.post(move |log| *log += number);
            yield_now().await;
            sender.send(log.call(|log| *log).await).unwrap();
        }));
    }
    drop(sender);
    while let Some(seen) = receiver.recv().await {
        spawn_colored(seen, async {}).await.unwrap();
    }
}

#[test]
fn a_thread_local_is_as_at_first_in_each_run() {
    let _report = passes(|| async {
        assert_eq!(PLAIN.replace(4), 3, "of another run");
        turns().await;
    });
    let _report = passes(|| async {
        assert_eq!(LAZY.replace(Vec::new()), [3], "of another run");
        turns().await;
    });
    // Few runs leave something, and these are not the first ones.
    let runs = AtomicU32::new(0);
    let _report = passes(|| {
        let leaves = runs.fetch_add(1, SeqCst) % 100 == 99;
        async move {
            assert_eq!(SELDOM.get(), 3, "of another run");
            if leaves {
                SELDOM.set(1 << 40);
            }
            turns().await;
        }
    });
}

#[test]
fn a_thread_that_is_used_again_makes_the_same_runs() {
    let builder = Builder::new().seeds(silent(10_000));
    let report = builder.clone().run(turns);
    report.assert_passed();
    assert_eq!(report.digest(), builder.on_threads().run(turns).digest());
}

/// Where there are stacks, and the system shows that nothing is left in the thread-locals.
#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    not(miri),
    not(colored_sanitize),
    any(
        target_arch = "x86",
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64",
        target_arch = "loongarch64"
    )
))]
mod again {
    use super::{Builder, HashSet, Mutex, SeqCst, turns};
    use std::sync::atomic::AtomicU32;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn a_thread_makes_many_runs() {
        let threads = Mutex::new(HashSet::new());
        let report = Builder::new().seeds(0..400).jobs(2).run(|| {
            threads.lock().unwrap().insert(thread::current().id());
            // The first one of a thread draws the keys of all, and the runtime counts attempts to read.
            let made = HashSet::from([7]);
            async move {
                turns().await;
                colored::fs::write("/file", b"seven").await.unwrap();
                assert_eq!(colored::fs::read("/file").await.unwrap(), b"seven");
                assert!(made.contains(&7));
            }
        });
        report.assert_passed();
        // One for each job, and some for what is not made ahead.
        let threads = threads.into_inner().unwrap().len();
        assert!(threads < 28, "{threads} threads");
    }

    #[test]
    fn an_unpark_of_one_run_is_not_that_of_the_next_one() {
        const TIME: Duration = Duration::from_millis(20);
        let early = AtomicU32::new(0);
        let report = Builder::new().seeds(0..12).jobs(1).run(|| {
            // On the thread of the run.
            let begin = Instant::now();
            thread::park_timeout(TIME);
            if begin.elapsed() < TIME {
                early.fetch_add(1, SeqCst);
            }
            thread::current().unpark();
            turns()
        });
        report.assert_passed();
        // The system may end a wait for no reason.
        let early = early.into_inner();
        assert!(early < 3, "{early} of 12 runs begin with the token of another one");
    }
}
