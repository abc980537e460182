//! Hosts: crashes, restarts, pauses, clocks.

use super::{passes_with, silent};
use colored::io::{AsyncReadExt, AsyncWriteExt};
use colored::net::{TcpListener, TcpStream};
use colored::sim::{Builder, always, host, host_name, is_on, shared, system_time};
use colored::spawn;
use colored::time::{Duration, Instant, sleep, timeout};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const SECOND: Duration = Duration::from_secs(1);

/// Answers each byte with the next one, for ever.
async fn serve() {
    let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        spawn(async move {
            while let Ok(byte) = stream.read_u8().await {
                if stream.write_u8(byte + 1).await.is_err() {
                    break;
                }
            }
        });
    }
}

async fn ask(byte: u8) -> io::Result<u8> {
    let mut stream = TcpStream::connect("a:80").await?;
    stream.write_u8(byte).await?;
    stream.read_u8().await
}

#[test]
fn hosts_have_names_and_one_time() {
    passes_with(
        Builder::new().seeds(0..100).host("a", || async {
            assert_eq!(host_name().as_deref(), Some("a"));
            let begin = Instant::now();
            sleep(SECOND).await;
            assert_eq!(begin.elapsed(), SECOND);
        }),
        || async {
            assert_eq!(host_name().as_deref(), Some("main"));
            let begin = Instant::now();
            sleep(2 * SECOND).await;
            assert_eq!(begin.elapsed(), 2 * SECOND);
        },
    );
    assert_eq!(host_name(), None);
}

#[test]
fn the_panic_of_a_host_fails_the_run() {
    let report = Builder::new()
        .seeds(0..10)
        .host("a", || async {
            sleep(SECOND).await;
            panic!("the host is ill");
        })
        .run(|| sleep(2 * SECOND));
    assert!(report.failure().unwrap().message().contains("the host is ill"), "{report}");
}

#[test]
fn a_host_answers_again_after_a_restart() {
    passes_with(Builder::new().seeds(silent(200)).host("a", serve), || async {
        assert_eq!(ask(1).await.unwrap(), 2);
        let mut open = TcpStream::connect("a:80").await.unwrap();
        host("a").crash().await;
        // Nobody is there, and nobody says so.
        assert!(timeout(10 * SECOND, ask(1)).await.is_err());
        open.write_u8(7).await.unwrap();
        assert!(timeout(10 * SECOND, open.read_u8()).await.is_err());
        host("a").restart();
        assert_eq!(ask(3).await.unwrap(), 4);
        // The new system does not know the connection.
        let error = open.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_connect_to_a_host_that_is_down_times_out() {
    passes_with(Builder::new().seeds(0..20).host("a", serve), || async {
        host("a").crash().await;
        let begin = Instant::now();
        assert_eq!(ask(1).await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(begin.elapsed().as_secs(), 127);
    });
}

#[test]
fn a_crash_drops_the_tasks_and_a_restart_calls_the_closure_again() {
    let (started, dropped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let program = {
        let (started, dropped) = (Arc::clone(&started), Arc::clone(&dropped));
        move || {
            started.fetch_add(1, SeqCst);
            let dropped = Dropped(Arc::clone(&dropped));
            async move {
                let _dropped = dropped;
                sleep(Duration::MAX).await;
            }
        }
    };
    let counts = move || (started.load(SeqCst), dropped.load(SeqCst));
    let runs = AtomicUsize::new(0);
    Builder::new()
        .seeds(1..20)
        .jobs(1)
        .host("a", program)
        .run(|| {
            let before = 2 * runs.fetch_add(1, SeqCst);
            let counts = counts.clone();
            async move {
                sleep(SECOND).await;
                assert_eq!(counts(), (before + 1, before));
                host("a").crash().await;
                assert_eq!(counts(), (before + 1, before + 1));
                host("a").restart();
                host("a").restart();
                sleep(SECOND).await;
                assert_eq!(counts(), (before + 2, before + 1));
            }
        })
        .assert_passed();
}

#[test]
fn a_paused_host_takes_no_turns_and_its_timers_go_on() {
    passes_with(
        Builder::new().seeds(0..100).host("a", || async {
            let begin = Instant::now();
            sleep(SECOND).await;
            // Between the pause at 0.5 s and the end of the pause at 5 s nothing runs here.
            assert_eq!(begin.elapsed(), 5 * SECOND);
            serve().await;
        }),
        || async {
            sleep(SECOND / 2).await;
            host("a").pause();
            sleep(SECOND * 9 / 2).await;
            host("a").resume();
            sleep(SECOND).await;
            assert_eq!(ask(1).await.unwrap(), 2);
        },
    );
}

#[test]
fn the_time_of_day_is_a_host_s_own() {
    passes_with(
        Builder::new().seeds(0..50).host("a", || async {
            sleep(SECOND).await;
            let begin = (system_time(), Instant::now());
            sleep(2 * SECOND).await;
            let passed = system_time().duration_since(begin.0).unwrap();
            assert_eq!(passed.as_secs(), 3602);
            assert_eq!(begin.1.elapsed(), 2 * SECOND);
        }),
        || async {
            let begin = system_time();
            sleep(2 * SECOND).await;
            host("a").step_clock(Duration::from_secs(3600));
            sleep(2 * SECOND).await;
            assert_eq!(system_time().duration_since(begin).unwrap(), 4 * SECOND);
            host("main").step_clock_back(Duration::from_secs(60));
            always!(system_time() < begin, "back");
        },
    );
}

#[test]
#[should_panic(expected = "the hosts are [\"main\", \"a\"]")]
fn a_host_that_is_not_there_is_named() {
    Builder::new()
        .seeds(0..1)
        .host("a", || async {})
        .run(|| async { host("b").restart() })
        .assert_passed();
}

/// Counts the values that are made and dropped.
#[derive(Debug)]
struct Counted(AtomicUsize);

static MADE: AtomicUsize = AtomicUsize::new(0);
static DROPPED: AtomicUsize = AtomicUsize::new(0);

impl Default for Counted {
    fn default() -> Self {
        // It asks for the run.
        assert!(is_on());
        MADE.fetch_add(1, SeqCst);
        Self(AtomicUsize::new(0))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(is_on());
        DROPPED.fetch_add(1, SeqCst);
    }
}

#[test]
fn hosts_share_a_value_of_each_run() {
    let count = || async {
        shared::<Counted>().0.fetch_add(1, SeqCst);
        sleep(SECOND).await;
    };
    let simulate = |jobs| {
        let simulation = Builder::new().seeds(0..300).host("a", count).host("b", count).jobs(jobs);
        let report = simulation.run(|| async {
            assert!(Arc::ptr_eq(&shared::<Counted>(), &shared::<Counted>()));
            assert_eq!(shared::<AtomicUsize>().fetch_add(1, SeqCst), 0, "another type");
            sleep(SECOND / 2).await;
            host("a").crash().await;
            host("a").restart();
            sleep(SECOND / 2).await;
            assert_eq!(shared::<Counted>().0.load(SeqCst), 3);
        });
        report.assert_passed();
    };
    simulate(1);
    let made = MADE.load(SeqCst);
    assert!(made >= 300 && made == DROPPED.load(SeqCst), "{made} made, {DROPPED:?} dropped");
    simulate(4);
}

#[test]
#[should_panic(expected = "`sim::shared` outside of a simulation")]
fn nothing_is_shared_outside_of_a_simulation() {
    let _ = shared::<AtomicUsize>();
}
