//! One clock for all that a program on the runtime calls time.

use colored::admission::Admission;
use colored::sim::{self, Builder};
use colored::spawn_blocking;
use colored::stage::{self, Batch, Events};
use colored::time::{Duration, Instant, sleep, system_time};
use std::sync::{Arc, Mutex};
use std::time::UNIX_EPOCH;

const SECOND: Duration = Duration::from_secs(1);

/// What one run returns.
fn run<F, T>(builder: Builder, program: impl Fn() -> F + Sync) -> T
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let returned = Arc::new(Mutex::new(None));
    let report = builder.run(|| {
        let (returned, future) = (Arc::clone(&returned), program());
        async move { *returned.lock().unwrap() = Some(future.await) }
    });
    report.assert_passed();
    returned.lock().unwrap().take().expect("the run has ended")
}

#[test]
fn an_admission_counts_the_time_of_the_run() {
    let seeds = || Builder::new().seeds(0..1);
    let waited = |time: Duration| {
        run(seeds(), move || async move {
            let admission = Admission::new(Duration::from_millis(10));
            let admitted = admission.admit().unwrap();
            sleep(time).await;
            let begun = admitted.begin().map(drop).map_err(|late| late.delay());
            let since = admission.admit_since(Instant::now().into_std()).unwrap();
            (begun, since.begin().is_ok())
        })
    };
    assert_eq!(waited(10 * SECOND), (Err(10 * SECOND), true));
    assert_eq!(waited(Duration::from_millis(5)), (Ok(()), true));
}

/// The sizes of the batches of a stage that is always full.
async fn sizes() -> Vec<usize> {
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&sizes);
    let builder = stage::Builder::new().capacity(300).batch(Batch::Adaptive { max: 64 });
    let stage = builder.build(move |events: Events<u32>| {
        into.lock().unwrap().push(events.count());
        // A batch takes time, and less for each of its events if it is larger.
        sleep(Duration::from_millis(1))
    });
    for number in 0..6_000 {
        stage.send(number).await.unwrap();
    }
    stage.close();
    stage.drained().await;
    sizes.lock().unwrap().clone()
}

#[test]
fn adaptive_batches_are_by_the_seed() {
    let of = |seed| run(Builder::new().seeds(seed..seed + 1).workers(1..=2), sizes);
    let first = of(3);
    assert_eq!(of(3), first);
    assert!(first.iter().max() > Some(&8), "larger batches win by the clock of the run: {first:?}");
}

#[test]
fn the_time_of_day_is_the_hosts() {
    let millis = || system_time().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let (begin, made) = run(Builder::new().seeds(0..3), || {
        // The closure is called on the host, too.
        let (begin, of_day) = (Instant::now(), millis());
        async move {
            sleep(60 * SECOND).await;
            let blocking = spawn_blocking(millis).await.unwrap();
            assert_eq!((begin.elapsed(), millis()), (60 * SECOND, blocking));
            sim::host("main").step_clock(3600 * SECOND);
            (of_day, millis())
        }
    });
    assert_eq!((begin, made), (1_767_225_600_000, begin + 3_660_000));
    // Outside, it is the system's.
    assert!(millis() > 1_700_000_000_000 && millis() != begin);
}
