//! Nothing of one run reaches the next one, though a thread makes several.

use super::{passes, silent};
use colored::net::{TcpListener, TcpStream};
use colored::sim::{Builder, Faults, OfThisCrate, host};
use colored::sync::mpsc;
use colored::time::{Duration, sleep};
use colored::{ColorCell, Handle, fs, spawn_colored, spawn_unique, yield_now};
use colored_core::WorkerMemory;
use colored_sim::sim::{self, Main, Runtime, Runtimes, Settings};
use colored_tests::soak::repeat;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

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

/// Makes the runtimes of hosts, and counts the workers of main hosts that are made in memory of others.
struct Counted;

static MADE_AGAIN: AtomicUsize = AtomicUsize::new(0);

impl Runtimes for Counted {
    fn make(settings: Settings, memory: &mut WorkerMemory) -> io::Result<Arc<dyn Runtime>> {
        if settings.machine.name() == "main" {
            MADE_AGAIN.fetch_add(settings.workers.min(memory.workers()), SeqCst);
        }
        OfThisCrate::make(settings, memory)
    }

    fn warm_up(seed: u64) -> Main {
        OfThisCrate::warm_up(seed)
    }
}

/// Uses what a world has, and leaves something of each.
async fn use_world() {
    let (a, file) = (host("a"), fs::read("/file").await);
    assert!(file.is_err(), "of another run: {file:?}");
    fs::write("/file", b"seven").await.unwrap();
    let _stream = TcpStream::connect("a:80").await;
    a.crash().await;
    a.restart();
    a.step_clock(Duration::from_secs(7));
    let _stream = TcpStream::connect("a:80").await;
    a.pause();
    let _sleeps = spawn_unique(sleep(Duration::from_secs(7)));
    turns().await;
}

#[test]
fn a_reset_world_and_a_new_one_make_the_same_runs() {
    let seeds = 0..repeat(500, 10_000) as u64;
    let run = |keeps: bool| {
        let kept = Mutex::new(Vec::new());
        let builder = sim::Builder::<Counted>::new().seeds(seeds.clone());
        let accept = || async {
            let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
            while listener.accept().await.is_ok() {}
        };
        let report = builder.faults(Faults::network()).host("a", accept).run(|| {
            if keeps {
                kept.lock().unwrap().push(host("a"));
            }
            use_world()
        });
        report.assert_passed();
        (report.digest(), MADE_AGAIN.swap(0, SeqCst))
    };
    let (reset, made_again) = run(false);
    assert!(made_again as u64 > 4 * seeds.end, "{made_again} workers in {} runs", seeds.end);
    // A world of which somebody has a part is not reset.
    assert_eq!(run(true), (reset, 0));
}

#[test]
fn a_handle_is_of_its_run_when_another_one_goes_on() {
    static KEPT: Mutex<Option<(Handle, ColorCell<u32>)>> = Mutex::new(None);
    let keep = || KEPT.lock().unwrap().replace((Handle::current(), ColorCell::new(1, 7)));
    Builder::new().seeds(0..1).run(|| async move { drop(keep()) }).assert_passed();
    let report = Builder::new().seeds(0..100).jobs(1).run(|| async move {
        let (handle, cell) = keep().expect("one of the run before");
        turns().await;
        assert!(handle.spawn_colored(1, async {}).await.unwrap_err().is_cancelled());
        cell.post(|_| panic!("the runtime of another run goes on"));
        turns().await;
    });
    report.assert_passed();
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
