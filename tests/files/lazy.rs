//! `lazy`: an attempt, or else a blocking call.

use colored::time::{Duration, timeout};
use colored::{Color, lazy};
use colored_tests::run;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

#[test]
fn an_attempt_that_succeeds_is_all() {
    run(1, async {
        let here = thread::current().id();
        let attempt = || Some((thread::current().id(), Color::current()));
        let ran = lazy(attempt, || unreachable!("it is not needed")).await.unwrap();
        assert_eq!(ran, (here, Some(Color::DEFAULT)));
    });
}

#[test]
fn an_attempt_that_fails_leaves_the_call_to_a_blocking_thread() {
    run(1, async {
        let here = thread::current().id();
        let ran = lazy(|| None, || (thread::current().id(), Color::current())).await.unwrap();
        assert!(ran.0 != here && ran.1.is_none());
        let panicked = lazy(|| None, || -> () { panic!("on purpose") }).await.unwrap_err();
        assert!(panicked.is_panic());
    });
}

#[test]
fn a_dropped_call_that_has_not_begun_does_not_begin() {
    let runtime = colored::Runtime::builder().workers(1).blocking_threads(1).build().unwrap();
    let (open, opened) = mpsc::channel::<()>();
    let begun = Arc::new(AtomicBool::new(false));
    let same = Arc::clone(&begun);
    runtime.run(async move {
        let first = colored::spawn_blocking(move || opened.recv().unwrap());
        let call = lazy(|| None, move || same.store(true, Ordering::Relaxed));
        assert!(timeout(Duration::from_millis(10), call).await.is_err());
        open.send(()).unwrap();
        first.await.unwrap();
        colored::spawn_blocking(|| ()).await.unwrap();
    });
    assert!(!begun.load(Ordering::Relaxed));
}
