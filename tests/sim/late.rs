//! Timers that fire late, and time-outs that end at each await of what is under them: each bug with a twin that has none.

use super::{assert_all_seen, passes_with, silent};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored::sim::{Builder, Failure, Fault, Faults, always, begin_quiet_phase, host, sometimes};
use colored::task::unconstrained;
use colored::time::{Duration, Instant, sleep, system_time, timeout};
use colored::{ColorCell, spawn_colored, yield_now};
use colored_tests::join_all;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::{env, fs, mem, process};

const MILLI: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn with(fault: Fault) -> Builder {
    Builder::new().faults(Faults::none().with(fault))
}

/// The failure that faults of this family show within so many seeds. A replay of it is the same one.
#[track_caller]
fn found<F>(fault: Fault, seeds: u64, program: impl Fn() -> F + Sync) -> Failure
where
    F: Future<Output = ()> + Send + 'static,
{
    let failure = super::found(&with(fault).seeds(0..seeds).run(&program));
    let file = format!("colored-late-{}-{fault:?}-{seeds}", process::id());
    let file = env::temp_dir().join(file);
    fs::write(&file, format!("it {}\n", failure.replay())).unwrap();
    let again = with(fault).seeds(0..0).keep_failures(&file, "it").run(program);
    fs::remove_file(file).unwrap();
    let again = again.failure().expect("a kept failure fails again");
    assert_eq!((again.message(), again.replay()), (failure.message(), failure.replay()));
    failure
}

/// A client has a lease of 10 ms, and stops working when its timer says that it is over. The owner waits for 12 ms, and gives
/// it to another one.
async fn lease(looks: bool) {
    let works = ColorCell::new(1, true);
    let client = works.clone();
    let begin = Instant::now();
    let stops = spawn_colored(2, async move {
        sleep(10 * MILLI).await;
        client.call(|works| *works = false).await;
    });
    let gives = spawn_colored(3, async move {
        sleep(12 * MILLI).await;
        let is_at_work =
            move |works: &mut bool| *works && !(looks && begin.elapsed() >= 10 * MILLI);
        always!(!works.call(is_at_work).await, "one client works under the lease");
    });
    gives.await.unwrap();
    stops.await.unwrap();
}

#[test]
fn a_lease_that_ends_by_a_timer_alone_is_found() {
    passes_with(Builder::new().seeds(silent(1000)), || lease(false));
    let failure = found(Fault::Lateness, 100, || lease(false));
    assert_eq!(failure.choices(), 1, "the late timer: {failure}");
    let text = failure.to_string();
    assert!(text.contains("of main is late with its timers, by 2."), "{text}");
    passes_with(with(Fault::Lateness).seeds(silent(1000)), || lease(true));
}

/// A packet that comes later than a timer is seen before it.
#[test]
fn a_timer_fires_behind_a_packet() {
    let serve = || async {
        let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_u8(1).await.unwrap();
    };
    let report = with(Fault::Lateness).seeds(silent(1000)).host("a", serve).run(|| async {
        let log = ColorCell::new(1, Vec::new());
        let late = log.clone();
        let timer = spawn_colored(2, async move {
            sleep(MILLI / 4).await;
            late.call(|log| log.push("timer")).await;
        });
        let mut stream = TcpStream::connect("a:80").await.unwrap();
        stream.read_u8().await.unwrap();
        log.call(|log| log.push("packet")).await;
        timer.await.unwrap();
        let log = log.call(|log| log.clone()).await;
        sometimes!(log == ["packet", "timer"], "the packet first");
        sometimes!(log == ["timer", "packet"], "the timer first");
    });
    assert_all_seen(&report);
}

/// As the documentation of `time` promises: the timers of a worker fire in order. None is early, or later than 10 s; and none is late
/// in the quiet phase.
#[test]
fn late_timers_keep_their_order_and_a_bound() {
    let report = with(Fault::Lateness).seeds(silent(1000)).workers(1..=1).run(|| async {
        let log = Arc::new(Mutex::new(Vec::new()));
        let begin = Instant::now();
        join_all((1..5_u32).map(|number| {
            let (log, sleep) = (log.clone(), sleep(number * MILLI));
            let future = async move {
                sleep.await;
                let late = begin.elapsed().checked_sub(number * MILLI).expect("none is early");
                log.lock().unwrap().push((number, late));
            };
            // A turn without a budget would let others pass.
            spawn_colored(1, unconstrained(future))
        }))
        .await;
        let log = mem::take(&mut *log.lock().unwrap());
        assert!(log.is_sorted(), "{log:?}");
        assert!(log.iter().all(|(_, late)| *late < 11 * SECOND), "{log:?}");
        sometimes!(log.iter().any(|(_, late)| *late > MILLI), "a timer is late");
        begin_quiet_phase();
        yield_now().await;
        let begin = Instant::now();
        for _ in 0..10 {
            sleep(MILLI).await;
        }
        assert_eq!(begin.elapsed(), 10 * MILLI);
    });
    assert_all_seen(&report);
}

/// Timers that become due in a pause of the host fire behind those that were held before it.
#[test]
fn late_timers_keep_their_order_over_a_pause() {
    let serve = || async {
        let log = Arc::new(Mutex::new(Vec::new()));
        join_all((1..5_u32).map(|number| {
            let (log, sleep) = (log.clone(), sleep(2 * number * MILLI));
            let future = async move {
                sleep.await;
                log.lock().unwrap().push(number);
            };
            spawn_colored(1, unconstrained(future))
        }))
        .await;
        assert_eq!(*log.lock().unwrap(), [1, 2, 3, 4]);
        sometimes!(true, "the host has seen all");
    };
    let builder = with(Fault::Lateness).seeds(silent(1000)).workers(1..=1).host("a", serve);
    let report = builder.run(|| async {
        sleep(3 * MILLI).await;
        host("a").pause();
        sleep(10 * MILLI).await;
        host("a").resume();
        sleep(60 * SECOND).await;
    });
    assert_all_seen(&report);
}

/// Two time-outs wait in one poll, and the later one passes first.
#[test]
fn time_does_not_go_back() {
    let report = with(Fault::Expiry).seeds(silent(1000)).run(|| async {
        for _ in 0..30 {
            let mut timers: Vec<_> = [50, 30, 20, 10]
                .map(|secs| Box::pin(timeout(secs * SECOND, pending::<()>())))
                .into();
            let begin = Instant::now();
            let mut last = (begin.elapsed(), system_time());
            poll_fn(|cx| {
                timers.retain_mut(|timer| {
                    let is_over = timer.as_mut().poll(cx).is_ready();
                    let now = (begin.elapsed(), system_time());
                    assert!(now.0 >= last.0 && now.1 >= last.1, "{now:?} behind {last:?}");
                    last = now;
                    !is_over
                });
                if timers.is_empty() { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
    });
    report.assert_passed();
    assert!(report.cancelled() > 0, "{report}");
}

/// What is under the time-out moves money in two calls.
async fn transfer(is_safe: bool, selects: bool) {
    let [from, to] = [(1, 100), (2, 0)].map(|(color, sum)| ColorCell::new(color, sum));
    let accounts = [from.clone(), to.clone()];
    let moves = async move {
        let [from, to] = accounts;
        from.call(|sum| *sum -= 10).await;
        sleep(MILLI).await;
        to.call(|sum| *sum += 10).await;
    };
    let client = spawn_colored(3, async move {
        let begin = Instant::now();
        if is_safe {
            // A task goes on when nobody waits for it.
            let mut moving = spawn_colored(4, moves);
            if timeout(SECOND, &mut moving).await.is_err() {
                assert!(begin.elapsed() >= SECOND, "a time-out is not early");
                moving.await.unwrap();
            }
        } else if selects {
            colored::select! {
                () = moves => {}
                () = sleep(SECOND) => {}
            }
        } else {
            let _ = timeout(SECOND, moves).await;
        }
    });
    client.await.unwrap();
    let sum = from.call(|sum| *sum).await + to.call(|sum| *sum).await;
    always!(sum == 100, "no money is lost");
}

#[test]
fn a_transfer_under_a_time_out_is_cancelled_at_each_await() {
    for (selects, seeds) in [(false, 20), (true, 21)] {
        passes_with(Builder::new().seeds(silent(1000)), move || transfer(false, selects));
        let failure = found(Fault::Expiry, seeds, move || transfer(false, selects));
        assert!(failure.choices() <= 3, "{failure}");
        let text = failure.to_string();
        let here = "of the sleep or time-out at tests/sim/late.rs";
        assert!(text.contains("s pass at wait ") && text.contains(here), "{text}");
    }
    let report = with(Fault::Expiry).seeds(silent(1000)).run(|| transfer(true, false));
    report.assert_passed();
    assert!(report.cancelled() > 0, "{report}");
}

/// All that is due by then has fired behind the poll in which time has passed; and a wait of more than 100 s is left alone.
#[test]
fn time_passes_for_all_and_within_a_bound() {
    let report = with(Fault::Expiry).seeds(silent(1000)).run(|| async {
        let log = ColorCell::new(1, Vec::new());
        let begin = Instant::now();
        // Before the first task, in which time may pass.
        let sleeps: Vec<_> = (1..4_u32).map(|number| (number, sleep(number * SECOND))).collect();
        let tasks: Vec<_> = sleeps
            .into_iter()
            .map(|(number, sleep)| {
                let log = log.clone();
                spawn_colored(u64::from(number), async move {
                    let mut sleep = pin!(sleep);
                    sleep.as_mut().await;
                    // It stays over.
                    sleep.await;
                    assert!(begin.elapsed() >= number * SECOND);
                    log.call(move |log| log.push(number)).await;
                })
            })
            .collect();
        for task in tasks {
            timeout(200 * SECOND, task).await.expect("nothing takes that long").unwrap();
        }
        let log = log.call(|log| log.clone()).await;
        assert_eq!(begin.elapsed(), 3 * SECOND);
        sometimes!(!log.is_sorted(), "a later time comes first");
    });
    assert_all_seen(&report);
}
