//! Several runs at once give the report of runs one after another, and keep the same failure.

use colored::sim::{Builder, Faults, Strategy, cancellable, sometimes};
use colored::task::Builder as Task;
use colored::{ColorCell, JoinHandle, exclusive, sim, spawn_colored, yield_now};
use colored_tests::join_all;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs, process};

/// The variable with which a child of these tests is told where its failure is kept.
const CHILD: &str = "COLORED_TEST_KEPT";

/// The clients, from the last to the first.
const REVERSE: [u64; 4] = [4, 3, 2, 1];

/// Fails with one seed in some hundreds, in which the clients begin from the last to the first.
async fn seldom() {
    let log = ColorCell::new(9, Vec::new());
    join_all((1..=4_u64).map(|color| {
        let log = log.clone();
        spawn_colored(color, async move {
            for _ in 0..2 {
                log.call(move |log| log.push(color)).await;
                cancellable(yield_now()).await;
            }
        })
    }))
    .await;
    let log = log.call(|log| log.clone()).await;
    sometimes!(log[0] == 4, "the last is the first");
    sometimes!(log.is_empty(), "never");
    assert!(!log.starts_with(&REVERSE), "in reverse");
}

/// A task under a color, with a name that the seed draws.
fn named(
    color: u64,
    name: &str,
    future: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<()> {
    let name = format!("{name} {}", sim::random() % 1000);
    Task::new().color(color).name(&name).spawn(future)
}

/// Tasks with names; with one seed in some hundreds, two of them are in a cycle, and the message names both.
async fn names() {
    let log = ColorCell::new(9, Vec::new());
    join_all((1..=4_u64).map(|color| {
        let log = log.clone();
        named(color, "client", async move {
            log.call(move |log| log.push(color)).await;
            yield_now().await;
            log.call(move |log| log.push(color)).await;
        })
    }))
    .await;
    let log = log.call(|log| log.clone()).await;
    let has_cycle = log.starts_with(&REVERSE);
    let cell = ColorCell::new(1, ());
    let outer = named(1, "outer", async move {
        let inner = named(2, "inner", async move {
            for _ in 0..20 {
                yield_now().await;
            }
            if has_cycle {
                // The section of the outer task has the color.
                cell.call(|()| ()).await;
            }
        });
        if let Err(error) = exclusive(inner).await {
            panic!("{}", error.deadlock().expect("nothing else ends it"));
        }
    });
    if let Err(error) = outer.await {
        std::panic::resume_unwind(error.into_panic());
    }
}

fn search(kept: &Path) {
    let builder = Builder::new().seeds(0..2000);
    for builder in [
        builder.clone().strategy(Strategy::Pct { depth: 3 }),
        builder.keep_failures(kept, "seldom"),
    ] {
        let report = builder.run(seldom);
        // The time that it takes to shrink is none of the runs'.
        let text = report.to_string().replace(" s\n", "\n");
        let text: Vec<_> = text.lines().map(|line| line.split(" runs, ").next().unwrap()).collect();
        println!("{:x} {} {}", report.digest(), report.cancelled(), text.join("\n"));
    }
    let failure = Builder::new().seeds(0..2000).run(names).failure().unwrap().clone();
    println!("{} {:?} {}", failure.replay(), failure.differs(), failure.message());
    let report = Builder::new().seeds(0..300).faults(Faults::swarm()).run(seldom_not);
    println!("{:x} {} {report}", report.digest(), report.cancelled());
}

/// Passes, and has awaits to cancel.
async fn seldom_not() {
    join_all([1, 2, 3].map(|color: u64| {
        spawn_colored(color, async move {
            for _ in 0..color * 20 {
                cancellable(yield_now()).await;
            }
        })
    }))
    .await;
}

/// The output of the search with so many jobs, and what it has kept.
fn searched(jobs: &str, is_kept: bool) -> (String, String) {
    let name = format!("colored-jobs-{}-{jobs}-{is_kept}", process::id());
    let path = env::temp_dir().join(name);
    let mut child = Command::new(env::current_exe().unwrap());
    child.args([
        "jobs::several_runs_at_once_are_those_one_after_another",
        "--exact",
        "--nocapture",
    ]);
    child.env(CHILD, &path).env("COLORED_SIM_JOBS", jobs).env("COLORED_SIM_KEEP", "1");
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let kept = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with("test ") && !line.starts_with("run"));
    let lines = lines.filter(|line| !line.contains("finished in"));
    // The path is another one for each child.
    let text = lines.collect::<Vec<_>>().join("\n").replace(&*path.to_string_lossy(), "KEPT");
    (text, kept)
}

#[test]
fn several_runs_at_once_are_those_one_after_another() {
    if let Some(path) = env::var_os(CHILD) {
        return search(Path::new(&path));
    }
    let (text, kept) = searched("1", true);
    assert!(text.contains("fails: in reverse") && text.contains("never seen: never"), "{text}");
    let names = ["\"outer ", "\"inner "].map(|name| text.matches(name).count());
    assert!(names == [2; 2] && text.contains(" None "), "{text}");
    assert!(kept.lines().filter(|line| line.starts_with("seldom ")).count() == 1, "{kept}");
    for jobs in ["2", "4"] {
        assert_eq!(searched(jobs, true), (text.clone(), kept.clone()), "{jobs} jobs");
    }
}

#[test]
fn a_number_of_jobs_that_is_none_is_an_error() {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args([
        "jobs::several_runs_at_once_are_those_one_after_another",
        "--exact",
        "--nocapture",
    ]);
    child.env(CHILD, "none").env("COLORED_SIM_JOBS", "0");
    let output = child.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    let wanted =
        "the environment variable COLORED_SIM_JOBS is \"0\": allowed are 1 to 1024 runs at once";
    assert!(!output.status.success() && text.contains(wanted), "{text}");
}

/// By seed, the first random number of a run.
fn first_numbers() -> Vec<u64> {
    let drawn = Mutex::new(Vec::new());
    let all = Builder::new().seeds(0..10).jobs(1);
    all.run(|| {
        // On the thread of the run.
        drawn.lock().unwrap().push(sim::random());
        async {}
    })
    .assert_passed();
    // The first run is made twice.
    let mut drawn = drawn.into_inner().unwrap();
    drawn.dedup();
    drawn
}

fn wait_for(what: &AtomicBool, time: Duration) {
    let begin = Instant::now();
    while !what.load(SeqCst) && begin.elapsed() < time {
        thread::sleep(Duration::from_millis(1));
    }
}

/// The run of seed 4 stands still on its one thread, and has a lock for ever. The one of seed 5, which is made at the same time,
/// waits for the lock. Made again, neither wants it.
#[test]
fn a_run_that_waits_for_one_that_was_given_up_is_made_again_when_its_turn_comes() {
    static LOCK: Mutex<()> = Mutex::new(());
    static IS_TAKEN: AtomicBool = AtomicBool::new(false);
    static TIMES: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];
    let drawn = first_numbers();
    let builder = Builder::new().seeds(0..10).jobs(2).strategy(Strategy::Pos);
    let (fourth, fifth) = (drawn[4], drawn[5]);
    let report = builder.run(|| async move {
        // So each job asks for one run at once.
        thread::sleep(Duration::from_millis(5));
        let drawn = sim::random();
        let number = [fourth, fifth].into_iter().position(|of| of == drawn);
        if number.is_none_or(|number| TIMES[number].fetch_add(1, SeqCst) > 0) {
            return;
        }
        if number == Some(1) {
            wait_for(&IS_TAKEN, Duration::from_secs(5));
            drop(LOCK.lock());
            return;
        }
        let log = ColorCell::new(99, 0);
        join_all((0..20_u64).map(|color| {
            let log = log.clone();
            spawn_colored(color, async move {
                let _held = LOCK.try_lock().ok().or_else(|| {
                    // On one thread, nobody gives it back any more.
                    IS_TAKEN.store(true, SeqCst);
                    LOCK.lock().ok()
                });
                // Another turn may go on here.
                log.post(|log| *log += 1);
            })
        }))
        .await;
    });
    report.assert_passed();
    let times = TIMES.each_ref().map(|times| times.load(SeqCst));
    // Where there are no stacks, the lock is free soon.
    let expected = if report.stuck() == 0 { [2, 2] } else { [2, 1] };
    assert_eq!(times, expected, "{report}");
}

/// Seed 5 fails, and seed 9 does not end.
#[test]
fn a_run_behind_the_failing_one_that_does_not_end_does_not_keep_the_report() {
    const LONG: Duration = Duration::from_secs(60);
    let drawn = first_numbers();
    let (fifth, ninth) = (drawn[5], drawn[9]);
    static TIMES: AtomicU32 = AtomicU32::new(0);
    static IS_INSIDE: AtomicBool = AtomicBool::new(false);
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    static WENT_ON: AtomicBool = AtomicBool::new(false);
    let begin = Instant::now();
    let report = Builder::new().seeds(0..10).jobs(2).run(|| async move {
        let drawn = sim::random();
        if drawn == ninth {
            IS_INSIDE.store(true, SeqCst);
            wait_for(&IS_OVER, LONG);
            yield_now().await;
            WENT_ON.store(true, SeqCst);
        } else if drawn == fifth {
            // At first it is made ahead.
            if TIMES.fetch_add(1, SeqCst) > 0 {
                wait_for(&IS_INSIDE, Duration::from_secs(5));
            }
            panic!("the fifth");
        }
    });
    assert!(begin.elapsed() < LONG, "the search waits for what nobody wants");
    let failure = report.failure().unwrap();
    assert!(failure.message().contains("the fifth") && failure.differs().is_none(), "{failure}");
    if IS_INSIDE.load(SeqCst) {
        // What is left behind does nothing more.
        IS_OVER.store(true, SeqCst);
        thread::sleep(Duration::from_millis(100));
        assert!(!WENT_ON.load(SeqCst), "it goes on beside the test");
    }
}
