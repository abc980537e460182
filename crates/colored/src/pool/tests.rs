//! The pool, by counts.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

use super::{Class, Job, Limits, Pool, Refused, Stats};

const LONG: Duration = Duration::from_secs(20);

fn pool(max_threads: usize, keep_alive: Duration) -> Pool {
    Pool::new(&Limits { max_threads, keep_alive, ..Limits::default() })
}

fn submit(pool: &Pool, job: impl FnOnce() + Send + 'static) {
    pool.submit(Class::Work, Job::new(job)).expect("the pool takes jobs");
}

/// Submits a job that says that it runs and then waits for the sender.
fn submit_held(pool: &Pool, class: Class) -> (Receiver<ThreadId>, Sender<()>) {
    let (begun, is_running) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let job = move || {
        begun.send(thread::current().id()).unwrap();
        let _ = released.recv();
    };
    pool.submit(class, Job::new(job)).unwrap();
    (is_running, release)
}

fn until(mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < LONG, "it never came to be");
        thread::sleep(Duration::from_millis(1));
    }
}

fn stats(threads: usize, idle: usize, queued: usize) -> Stats {
    Stats { threads, idle, queued }
}

#[test]
fn an_idle_thread_is_used_again() {
    let pool = pool(8, LONG);
    let mut ids = Vec::new();
    for _ in 0..10 {
        let (is_running, release) = submit_held(&pool, Class::Work);
        ids.push(is_running.recv().unwrap());
        drop(release);
        until(|| pool.stats(Class::Work).idle == 1);
    }
    assert!(ids.iter().all(|id| *id == ids[0]));
    assert_eq!(pool.stats(Class::Work), stats(1, 1, 0));
}

#[test]
fn the_last_idle_thread_is_called_first() {
    let pool = pool(8, LONG);
    let (first, release_first) = submit_held(&pool, Class::Work);
    let (second, release_second) = submit_held(&pool, Class::Work);
    let first = first.recv().unwrap();
    assert_ne!(first, second.recv().unwrap());
    drop(release_second);
    until(|| pool.stats(Class::Work).idle == 1);
    drop(release_first);
    until(|| pool.stats(Class::Work).idle == 2);
    let (third, _release) = submit_held(&pool, Class::Work);
    assert_eq!(third.recv().unwrap(), first);
}

#[test]
fn threads_are_bounded_and_the_rest_waits_in_order() {
    let pool = pool(2, LONG);
    let held: Vec<_> = (0..2).map(|_| submit_held(&pool, Class::Work)).collect();
    for (is_running, _) in &held {
        is_running.recv().unwrap();
    }
    let (order, ran) = mpsc::channel();
    for number in 0..100 {
        let order = order.clone();
        submit(&pool, move || order.send(number).unwrap());
    }
    assert_eq!(pool.stats(Class::Work), stats(2, 0, 100));
    let mut held = held.into_iter();
    let (_, _kept) = held.next().unwrap();
    drop(held);
    let ran: Vec<i32> = ran.iter().take(100).collect();
    assert!(ran.is_sorted(), "one thread runs them in order");
}

#[test]
fn a_class_does_not_wait_for_another() {
    let pool = pool(1, LONG);
    let mut held = Vec::new();
    for class in Class::ALL {
        let (is_running, release) = submit_held(&pool, class);
        is_running.recv_timeout(LONG).expect("the jobs of other classes do not stop it");
        pool.submit(class, Job::new(|| ())).expect("the pool takes jobs");
        assert_eq!(
            pool.stats(class),
            stats(1, 0, 1),
            "{class:?}: the second waits behind its like"
        );
        held.push(release);
    }
}

/// A paused clock waits for jobs that end by themselves, and for no others.
#[test]
fn what_waits_for_a_peer_is_no_work() {
    for class in Class::ALL {
        let pool = pool(1, LONG);
        assert!(!pool.has_work());
        let (is_running, _release) = submit_held(&pool, class);
        is_running.recv().unwrap();
        assert_eq!(pool.has_work(), !class.waits_for_a_peer(), "{class:?}");
    }
}

#[test]
fn a_panic_ends_its_job_only() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("in a destructor of a payload");
        }
    }
    let pool = pool(1, LONG);
    submit(&pool, || panic!("in a job"));
    submit(&pool, || std::panic::panic_any(Bomb));
    let (is_running, release) = submit_held(&pool, Class::Work);
    is_running.recv().unwrap();
    assert_eq!(pool.stats(Class::Work), stats(1, 0, 0));
    drop(release);
    assert!(pool.shutdown(None));
}

#[test]
fn a_thread_retires_when_it_was_idle_for_long_enough() {
    let pool = pool(4, Duration::from_millis(5));
    let held: Vec<_> = (0..4).map(|_| submit_held(&pool, Class::Work)).collect();
    for (is_running, _) in &held {
        is_running.recv().unwrap();
    }
    drop(held);
    until(|| pool.stats(Class::Work) == stats(0, 0, 0));
    let (is_running, release) = submit_held(&pool, Class::Work);
    is_running.recv().unwrap();
    drop(release);
    assert!(pool.shutdown(None));
}

#[test]
fn jobs_and_retiring_threads_do_not_miss_each_other() {
    let pool = pool(2, Duration::from_micros(50));
    let (done, dones) = mpsc::channel();
    for round in 0..500 {
        let done = done.clone();
        submit(&pool, move || done.send(()).unwrap());
        dones.recv_timeout(LONG).expect("no job is forgotten");
        thread::sleep(Duration::from_micros(round % 8 * 20));
    }
}

#[test]
fn shutdown_drops_waiting_jobs_and_waits_for_running_ones() {
    let pool = Arc::new(pool(1, LONG));
    let (is_running, release) = submit_held(&pool, Class::Work);
    is_running.recv().unwrap();
    let (never, dropped) = mpsc::channel::<()>();
    submit(&pool, move || never.send(()).unwrap());
    assert!(!pool.shutdown(Some(Instant::now())), "a job runs");
    assert!(dropped.recv().is_err(), "the one that waited was dropped and not run");
    let closing = thread::spawn({
        let pool = pool.clone();
        move || pool.shutdown(None)
    });
    drop(release);
    assert!(closing.join().unwrap());
    assert_eq!(pool.stats(Class::Work), stats(0, 0, 0));
    let refused = pool.submit(Class::Work, Job::new(|| ())).unwrap_err();
    assert!(matches!(refused, Refused::ShutDown(_)));
}

#[test]
fn shutdown_waits_only_for_what_ends_by_itself() {
    for class in Class::ALL {
        let pool = pool(1, LONG);
        let (is_running, _release) = submit_held(&pool, class);
        is_running.recv().unwrap();
        let soon = Instant::now() + Duration::from_millis(1);
        assert_eq!(pool.shutdown(Some(soon)), !class.is_waited_for(), "{class:?}");
    }
}

#[test]
fn shutdown_does_not_wait_for_a_look_up_that_runs() {
    let pool = pool(2, LONG);
    let (is_running, release) = submit_held(&pool, Class::Lookup);
    is_running.recv().unwrap();
    let (other, release_other) = submit_held(&pool, Class::Lookup);
    other.recv().unwrap();
    drop(release_other);
    until(|| pool.stats(Class::Lookup).idle == 1);
    assert!(pool.shutdown(None));
    assert_eq!(pool.stats(Class::Lookup), stats(1, 0, 0), "it waits for the idle one");
    let begin = Instant::now();
    assert!(pool.shutdown(Some(begin + LONG)));
    assert!(begin.elapsed() < LONG);
    drop(release);
    until(|| pool.stats(Class::Lookup) == stats(0, 0, 0));
    assert!(pool.shutdown(None));
}

#[test]
fn shutdown_calls_idle_threads() {
    let pool = pool(4, LONG);
    let held: Vec<_> = (0..4).map(|_| submit_held(&pool, Class::Work)).collect();
    for (is_running, _) in &held {
        is_running.recv().unwrap();
    }
    drop(held);
    until(|| pool.stats(Class::Work).idle == 4);
    let begin = Instant::now();
    assert!(pool.shutdown(None));
    assert!(begin.elapsed() < LONG);
}

#[test]
fn a_job_may_shut_the_pool_down() {
    let pool = Arc::new(pool(2, LONG));
    let (other, release) = submit_held(&pool, Class::Work);
    other.recv().unwrap();
    let (answer, answers) = mpsc::channel();
    let inner = pool.clone();
    submit(&pool, move || answer.send(inner.shutdown(None)).unwrap());
    drop(release);
    assert_eq!(answers.recv_timeout(LONG), Ok(false));
    assert!(pool.shutdown(None));
}

#[test]
fn dropping_the_pool_ends_its_threads() {
    let pool = pool(2, LONG);
    let (is_running, release) = submit_held(&pool, Class::Work);
    is_running.recv().unwrap();
    let threads = Arc::downgrade(pool.group(Class::Work));
    drop(pool);
    drop(release);
    until(|| threads.upgrade().is_none());
}

#[test]
#[cfg(target_os = "linux")]
fn the_system_shows_whole_names() {
    let pool = pool(2, LONG);
    let (name, names) = mpsc::channel();
    let job = move || name.send(std::fs::read_to_string("/proc/thread-self/comm")).unwrap();
    pool.submit(Class::Lookup, Job::new(job)).unwrap();
    assert_eq!(names.recv().unwrap().unwrap().trim_end(), "colored-dns-0");
}

#[test]
fn many_submitters_lose_no_job() {
    let pool = pool(3, Duration::from_micros(100));
    let ran = Arc::new(AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    let ran = ran.clone();
                    submit(&pool, move || {
                        ran.fetch_add(1, SeqCst);
                    });
                }
            });
        }
    });
    until(|| ran.load(SeqCst) == 8_000);
    assert!(pool.stats(Class::Work).threads <= 3);
    assert!(pool.shutdown(None));
}

#[test]
fn a_class_that_is_used_first_behind_the_end_takes_no_jobs() {
    let pool = pool(2, LONG);
    assert!(pool.shutdown(None));
    let refused = pool.submit(Class::File, Job::new(|| ())).unwrap_err();
    assert!(matches!(refused, Refused::ShutDown(_)), "{refused:?}");
    assert_eq!(pool.stats(Class::File), Stats::default());
}
