//! The functions that take a time.

use super::{Done, YEAR, after, connect, connection, has_passed, on, once, paused};
use colored::admission::Admission;
use colored::diagnose::Options;
use colored::net::{ConnectOptions, KeepAlive, TcpSocket};
use colored::runtime::Tuning;
use colored::sim;
use colored::sync::mpsc;
use colored::task::JoinSet;
use colored::time::{self, Duration, Instant};
use colored::{Builder, Runtime};
use colored_tests::runtime;
use std::future::pending;
use std::pin::pin;

/// Builds a runtime, and lets it do something of everything.
fn use_everything(builder: Builder) -> Done {
    let runtime = builder.tuning(Tuning::new().spare_workers(1)).workers(1).build()?;
    runtime.run(async {
        colored::exclusive(async { time::sleep(Duration::from_micros(1)).await }).await;
        colored::spawn_blocking(|| ()).await.unwrap();
        colored::spawn_unique(colored::task::yield_now()).await.unwrap();
    });
    Ok(())
}

fn keep_alive(set: impl FnOnce(KeepAlive) -> KeepAlive) -> Done {
    on(async { connection().await.set_keep_alive(Some(set(KeepAlive::new()))) })
}

/// Three ticks of it.
async fn tick_thrice(mut interval: time::Interval) {
    for _ in 0..3 {
        interval.tick().await;
    }
}

fn embedded() -> colored::runtime::EmbeddedRuntime {
    let embedded = Runtime::builder().build_embedded().unwrap();
    drop(embedded.handle().spawn_unique(async {}));
    embedded
}

/// The file and the function, and a call of it.
type Row = (&'static str, fn(Duration) -> Done);

/// Steps the clock of a simulated host. It goes on within centuries.
fn step(step: impl Fn(sim::Host) + Send + Sync + Copy + 'static) -> Done {
    let report = sim::Builder::new().seeds(0..1).run(move || async move {
        step(sim::host("main"));
        assert!(sim::system_time() > std::time::UNIX_EPOCH - Duration::from_secs(300 * YEAR));
    });
    report.assert_passed();
    Ok(())
}

pub(super) const ROWS: &[Row] = &[
    ("sim/host.rs::step_clock", |of| step(move |host| host.step_clock(of))),
    ("sim/host.rs::step_clock_back", |of| step(move |host| host.step_clock_back(of))),
    ("time/sleep.rs::sleep", |of| {
        on(async { once(time::sleep(of)).await });
        paused(async {
            let begin = Instant::now();
            time::sleep(of).await;
            assert!(has_passed(begin, of), "it is early");
        });
        Ok(())
    }),
    ("time/sleep.rs::sleep_until", |of| {
        on(async { once(time::sleep_until(after(of))).await });
        paused(async {
            let begin = Instant::now();
            let sleep = time::sleep_until(after(of));
            sleep.await;
            assert!(has_passed(begin, of), "it is early");
        });
        Ok(())
    }),
    ("time/sleep.rs::reset", |of| {
        paused(async {
            let begin = Instant::now();
            let mut sleep = pin!(time::sleep(Duration::from_secs(1)));
            once(sleep.as_mut()).await;
            sleep.as_mut().reset(after(of));
            once(sleep.as_mut()).await;
            sleep.as_mut().await;
            assert!(sleep.is_elapsed() && has_passed(begin, of), "it is early");
        });
        Ok(())
    }),
    ("time/timeout.rs::timeout", |of| {
        paused(async { time::timeout(of, pending::<()>()).await.unwrap_err() });
        paused(async { time::timeout(of, async {}).await.unwrap() });
        Ok(())
    }),
    ("time/timeout.rs::timeout_at", |of| {
        paused(async { time::timeout_at(after(of), pending::<()>()).await.unwrap_err() });
        Ok(())
    }),
    ("sync/mpsc/bounded.rs::send_timeout", |of| {
        paused(async {
            let (send, _receive) = mpsc::channel(1);
            send.send_timeout(1, of).await.unwrap();
            assert_eq!(send.send_timeout(2, of).await.unwrap_err().into_inner(), 2);
        });
        Ok(())
    }),
    ("time/interval.rs::interval", |of| {
        paused(async { tick_thrice(time::interval(of)).await });
        Ok(())
    }),
    ("time/interval.rs::interval_at", |of| {
        paused(async { tick_thrice(time::interval_at(after(of), Duration::from_secs(1))).await });
        paused(async { tick_thrice(time::interval_at(Instant::now(), of)).await });
        Ok(())
    }),
    ("time/interval.rs::reset_after", |of| {
        paused(async {
            let mut interval = time::interval(Duration::from_secs(1));
            interval.reset_after(of);
            tick_thrice(interval).await;
        });
        Ok(())
    }),
    ("time/interval.rs::reset_at", |of| {
        for behavior in [time::MissedTickBehavior::Skip, time::MissedTickBehavior::Delay] {
            paused(async {
                let mut interval = time::interval(Duration::from_secs(1));
                interval.set_missed_tick_behavior(behavior);
                interval.reset_at(after(of));
                tick_thrice(interval).await;
            });
        }
        Ok(())
    }),
    ("time/paused.rs::advance", |of| {
        paused(async {
            let begin = Instant::now();
            time::advance(of).await;
            assert!(has_passed(begin, of), "it is early");
            time::advance(of).await;
            time::advance(of).await;
            // And everything works at whatever time that is.
            once(time::sleep(Duration::from_secs(1))).await;
        });
        Ok(())
    }),
    ("time/instant.rs::checked_add", |of| {
        let now = Instant::now();
        assert!(now.checked_add(of).is_none_or(|at| at >= now));
        Ok(())
    }),
    ("time/instant.rs::checked_sub", |of| {
        let now = Instant::now();
        assert!(now.checked_sub(of).is_none_or(|at| at <= now));
        Ok(())
    }),
    ("time/instant.rs::duration_since", |of| {
        let (now, at) = (Instant::now(), after(of));
        assert_eq!(now.duration_since(at.max(now)), Duration::ZERO);
        assert!(at.duration_since(now) <= of.saturating_add(Duration::from_secs(60)));
        Ok(())
    }),
    ("time/instant.rs::saturating_duration_since", |of| {
        let (now, at) = (Instant::now(), after(of));
        assert_eq!(now.saturating_duration_since(at.max(now)), Duration::ZERO);
        Ok(())
    }),
    ("time/instant.rs::checked_duration_since", |of| {
        let at = after(of);
        assert_eq!(at.checked_duration_since(at), Some(Duration::ZERO));
        Ok(())
    }),
    ("time/instant.rs::from_std", |of| {
        let at = after(of);
        assert_eq!(Instant::from_std(at.into_std()), at);
        Ok(())
    }),
    ("net/tcp/connect.rs::time_limit", |of| connect(ConnectOptions::new().time_limit(of))),
    ("net/tcp/keep_alive.rs::idle", |of| keep_alive(|options| options.idle(of))),
    ("net/tcp/keep_alive.rs::interval", |of| keep_alive(|options| options.interval(of))),
    ("net/tcp/options.rs::set_linger", |of| on(async { connection().await.set_linger(Some(of)) })),
    ("net/tcp/socket.rs::set_linger", |of| TcpSocket::new_v4()?.set_linger(Some(of))),
    ("colored-stage/admission.rs::new", |of| {
        drop(on(async { Admission::new(of).admit() }));
        Ok(())
    }),
    ("colored-stage/admission.rs::admit_since", |of| {
        let admission = Admission::new(Duration::from_secs(1));
        let past = Instant::now().checked_sub(of).unwrap_or_else(Instant::now);
        drop(on(async { admission.admit_since(after(of).into_std()) }));
        drop(on(async { admission.admit_since(past.into_std()) }));
        Ok(())
    }),
    ("runtime.rs::shutdown_timeout", |of| {
        // What has not ended in no time ends later.
        drop(runtime(1).shutdown_timeout(of));
        Ok(())
    }),
    ("runtime/embedded.rs::turn", |of| {
        let mut embedded = embedded();
        embedded.turn(of);
        embedded.turn(Duration::from_millis(1));
        Ok(())
    }),
    ("runtime/embedded.rs::wait", |of| {
        embedded().wait(Some(of));
        Ok(())
    }),
    ("runtime/builder.rs::thread_keep_alive", |of| {
        use_everything(Runtime::builder().thread_keep_alive(of))
    }),
    ("runtime/builder/tuning.rs::timer_resolution", |of| {
        use_everything(Runtime::builder().tuning(Tuning::new().timer_resolution(of)))
    }),
    ("runtime/builder.rs::deadlock_after", |of| {
        use_everything(Runtime::builder().deadlock_after(of))
    }),
    ("runtime/builder.rs::long_poll", |of| use_everything(Runtime::builder().long_poll(of))),
    ("diagnose/options.rs::warning_pace", |of| {
        use_everything(Runtime::builder().diagnose(Options::new().warning_pace(of, of, of)))
    }),
    ("runtime/builder/tuning.rs::slice", |of| {
        use_everything(Runtime::builder().tuning(Tuning::new().slice(64, of)))
    }),
    ("diagnose/options/dumps.rs::dump_on_stall", |of| {
        use_everything(
            Runtime::builder().diagnose(Options::new().dump_on_stall(of).on_dump(|_| ())),
        )
    }),
    ("task/join_set.rs::deadline", |of| {
        paused(async {
            let mut group = JoinSet::new().deadline(after(of));
            group.spawn_unique(pending::<()>());
            assert!(group.join_next().await.unwrap().is_err());
        });
        Ok(())
    }),
    ("sim/builder.rs::budget", |of| {
        sim::Builder::new().seeds(0..2).budget(of).run(|| async {}).assert_passed();
        Ok(())
    }),
];
