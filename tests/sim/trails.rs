//! The same seeds make the same runs: in one process, in two, in debug and release builds.
//!
//! `COLORED_TEST_SEEDS=10000` runs more seeds. `COLORED_TEST_DIGESTS=path` compares the digests with those in that file, which
//! the first such run makes: so the builds of two profiles are compared.

use super::net_bugs::{add, sums};
use super::runs::busy;
use super::select::{lefts, woken};
use super::silent;
use colored::fs::{self as files, File};
use colored::io::AsyncWriteExt;
use colored::sim::{Builder, Fault, Faults, Report, Strategy, begin_quiet_phase, buggify, random};
use colored::sync::{Notify, Semaphore, broadcast};
use colored::time::{Duration, interval, sleep, timeout};
use colored::{ColorCell, exclusive, spawn_blocking, spawn_colored, spawn_unique, when, yield_now};
use colored_tests::join_all;
use std::env;
use std::fs;
use std::io;
use std::process::{self, Command};
use std::sync::{Arc, Mutex};

/// Locks, signals and time-outs.
async fn locks() {
    let (permits, signal) = (Arc::new(Semaphore::new(2)), Arc::new(Notify::new()));
    let (sender, _) = broadcast::channel(4);
    let tasks: Vec<_> = (0..9_u64)
        .map(|number| {
            let (permits, signal) = (permits.clone(), signal.clone());
            let (sender, mut receiver) = (sender.clone(), sender.subscribe());
            spawn_colored(number % 4, async move {
                for _ in 0..3 {
                    let millis = Duration::from_millis(random() % 5);
                    let permit = timeout(millis, permits.acquire()).await;
                    if buggify!(4) {
                        sleep(millis).await;
                    }
                    let _ = sender.send(number);
                    drop(permit);
                    colored::select! {
                        _ = receiver.recv() => {}
                        () = signal.notified() => {}
                        () = sleep(millis) => signal.notify_waiters(),
                    }
                }
            })
        })
        .collect();
    let mut beat = interval(Duration::from_millis(1));
    for _ in 0..5 {
        beat.tick().await;
        signal.notify_one();
    }
    join_all(tasks).await;
}

/// Sections, calls of several cells, and the blocking pool.
async fn cells() {
    let cells: Vec<_> = (1..4_u64).map(|color| ColorCell::new(color, color)).collect();
    join_all((0..6_u64).map(|number| {
        let cells = cells.clone();
        spawn_unique(async move {
            let [one, two] = [number % 3, (number + 1) % 3].map(|at| cells[at as usize].clone());
            when((&one, &two), std::mem::swap).await;
            exclusive(async { yield_now().await }).await;
            one.post(|one| *one += 1);
            spawn_blocking(|| ()).await.unwrap();
        })
    }))
    .await;
}

/// Appends to a file, and makes the length of the file a color: so the run shows it.
async fn append(round: u8) -> io::Result<()> {
    let mut file = File::options().create(true).append(true).open("/log").await?;
    file.write_all(&[round; 700]).await?;
    file.flush().await?;
    if round.is_multiple_of(2) {
        file.sync_all().await?;
        File::open("/").await?.sync_all().await?;
    }
    let len = files::metadata("/log").await?.len();
    spawn_colored(len, async {}).await.map_err(io::Error::other)
}

/// Appends, and asks the other host for a sum, which becomes a color.
async fn append_and_ask() {
    for round in 1..=4 {
        let _ = append(round).await;
        if let Ok(Ok(sum)) = timeout(Duration::from_secs(2), add(round, 1)).await {
            let _ = spawn_colored(u64::from(sum), async {}).await;
        }
    }
}

/// Hosts whose connections, files and clocks fail, and which crash.
fn run_hosts(builder: Builder) -> Report {
    let faults = Faults::swarm().with(Fault::Stall).with(Fault::Lateness).with(Fault::Expiry);
    let builder = builder.faults(faults);
    builder.host("a", sums(true)).host("b", append_and_ask).run(|| async {
        append_and_ask().await;
        begin_quiet_phase();
        sleep(Duration::from_secs(100)).await;
        append_and_ask().await;
    })
}

/// How many seeds are run.
fn seeds() -> u64 {
    env::var("COLORED_TEST_SEEDS").map_or(silent(150).end, |seeds| seeds.parse().expect("a number"))
}

/// The digests of all programs, as a text.
fn digests(builder: &Builder) -> String {
    let reports = [
        builder.clone().run(|| async { drop(busy().await) }),
        builder.clone().run(|| async { drop(woken().await) }),
        builder.clone().run(|| async { assert!(lefts().await < 2000) }),
        builder.clone().run(locks),
        builder.clone().run(cells),
        run_hosts(builder.clone()),
    ];
    reports
        .map(|report| {
            report.assert_passed();
            assert_eq!((report.stuck(), report.unconfirmed()), (0, 0), "{report}");
            format!("{:x}\n", report.digest())
        })
        .concat()
}

/// The variable with which a child of [`two_processes_make_the_same_runs`] is told where to write.
const CHILD: &str = "COLORED_TEST_CHILD";

#[test]
fn two_processes_make_the_same_runs() {
    let ours = digests(&Builder::new().seeds(0..seeds()));
    if let Some(path) = env::var_os(CHILD) {
        fs::write(path, ours).unwrap();
        return;
    }
    let path = env::temp_dir().join(format!("colored-digests-{}", process::id()));
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["trails::two_processes_make_the_same_runs", "--exact"]).env(CHILD, &path);
    assert!(child.output().unwrap().status.success());
    let theirs = fs::read_to_string(&path).unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!(ours, theirs);
    let mut lines: Vec<_> = ours.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 6, "each program has a digest of its own");
    if let Some(path) = env::var_os("COLORED_TEST_DIGESTS") {
        match fs::read_to_string(&path) {
            Ok(earlier) => assert_eq!(ours, earlier, "another build makes other runs"),
            Err(_) => fs::write(&path, ours).unwrap(),
        }
    }
}

#[test]
fn runs_on_one_thread_are_those_on_threads() {
    for strategy in [Strategy::Portfolio, Strategy::Pos] {
        let builder = Builder::new().seeds(0..seeds()).strategy(strategy);
        assert_eq!(digests(&builder), digests(&builder.clone().on_threads()), "{strategy:?}");
    }
}

/// Fails, with the order of what its tasks have done.
async fn tell_order() {
    let (log, cell) = (Arc::new(Mutex::new(String::new())), ColorCell::new(9, ()));
    join_all(['a', 'b', 'c'].into_iter().enumerate().map(|(number, name)| {
        let (log, cell) = (log.clone(), cell.clone());
        spawn_colored(number as u64, async move {
            let note = |place: u8| log.lock().unwrap().extend([name, char::from(place)]);
            note(b'1');
            cell.post(|()| ());
            note(b'2');
            cell.call(|()| ()).await;
            note(b'3');
            yield_now().await;
            note(b'4');
        })
    }))
    .await;
    panic!("{}", log.lock().unwrap());
}

/// The order in the run that a text names.
fn order_of(text: &str) -> String {
    let path = env::temp_dir().join(format!("colored-order-{}", process::id()));
    fs::write(&path, format!("order {text}\n")).unwrap();
    let report = Builder::new().seeds(0..0).keep_failures(&path, "order").run(tell_order);
    fs::remove_file(&path).unwrap();
    let failure = report.failure().expect("each run fails");
    assert_eq!(failure.replay(), text);
    failure.message().lines().next().unwrap().to_owned()
}

/// Failures are kept by such texts. If this test fails, a text names another run than it did: count `VERSION` in `replay.rs` up.
#[test]
fn a_text_names_the_run_that_it_named_when_it_was_made() {
    const CHOICES: [&str; 3] = ["0.1p2n1", "0.2n1", "1.3d0"];
    const ORDER: &str = "a1a2c1c2b1b2c3c4b3a3b4a4";
    assert_eq!(order_of(&format!("v2:7:2:{}", CHOICES.join("_"))), ORDER);
    for left_out in CHOICES {
        let rest: Vec<_> = CHOICES.into_iter().filter(|choice| *choice != left_out).collect();
        assert_ne!(order_of(&format!("v2:7:2:{}", rest.join("_"))), ORDER, "{left_out} is made");
    }
}
