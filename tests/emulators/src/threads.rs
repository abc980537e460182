//! Clocks, threads, panics, and processes.

use std::cell::RefCell;
use std::process::Command;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

pub(crate) fn clocks_move() {
    let (instant, wall) = (Instant::now(), SystemTime::now());
    thread::sleep(Duration::from_millis(30));
    assert!(instant.elapsed() >= Duration::from_millis(30), "{:?}", instant.elapsed());
    let elapsed = wall.elapsed().expect("nobody sets the clock back");
    assert!(elapsed >= Duration::from_millis(20), "{elapsed:?}");
}

pub(crate) fn threads_wake_each_other() {
    let barrier = Arc::new(Barrier::new(8));
    let threads: Vec<_> = (0..8)
        .map(|_| Arc::clone(&barrier))
        .map(|barrier| thread::spawn(move || (0..1000).for_each(|_| drop(barrier.wait()))))
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
}

pub(crate) fn thread_locals_are_dropped() {
    struct Last(Sender<()>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.send(()).expect("the other waits");
        }
    }
    thread_local!(static LAST: RefCell<Option<Last>> = const { RefCell::new(None) });
    let (sender, dropped) = channel();
    let thread = thread::spawn(|| LAST.with(|last| *last.borrow_mut() = Some(Last(sender))));
    thread.join().expect("it ends");
    dropped.recv_timeout(Duration::from_secs(5)).expect("the value is dropped");
}

pub(crate) fn a_panic_unwinds() {
    let result = thread::spawn(|| panic!("on purpose")).join();
    assert!(result.is_err());
}

/// With the name of no emulator, of which nothing is listed.
pub(crate) fn a_program_starts_itself() {
    let mut child = Command::new(std::env::current_exe().expect("it has a path"));
    let output = child.args(["-", "clocks_move"]).output().expect("it starts");
    assert!(output.status.success(), "{output:?}");
}
