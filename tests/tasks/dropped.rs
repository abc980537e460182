//! Futures that are dropped in every state that they have: unpolled, pending, woken, on another thread,
//! inside a task, in a `select!`, while the runtime ends, and after that. Nothing of them stays, neither their wakers
//! nor the values of their closures, and the target of each wait works for its next user.

mod subjects;

use self::subjects::{ALL, IN_TASKS, Subject};
use colored::{Runtime, yield_now};
use colored_tests::polls::once;
use colored_tests::{runtime, shared};
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(20);

/// Counts wakes, and the wakers that still exist.
#[derive(Default)]
struct Alarm(AtomicUsize);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Release);
    }
}

impl Alarm {
    fn rang(&self) -> bool {
        self.0.load(Ordering::Acquire) > 0
    }
}

/// Waits for a condition that becomes true by itself, and soon.
#[track_caller]
fn soon<T: PartialEq + Debug>(expected: &T, what: &str, mut found: impl FnMut() -> T) {
    let begin = Instant::now();
    loop {
        let found = found();
        if found == *expected {
            return;
        }
        assert!(begin.elapsed() < LONG, "{what}: {found:?}, not {expected:?}");
        thread::sleep(Duration::from_micros(200));
    }
}

/// A subject in its runtime.
struct Case {
    name: &'static str,
    runtime: Runtime,
    subject: Subject,
    /// The closures of the subject own clones of it.
    token: Arc<()>,
}

impl Case {
    /// Checks the end: the future is gone, except for values that a color has yet to drop, and its target goes on
    /// without it.
    fn end(self) {
        let Self { name, runtime, subject: Subject { future, ready, check, .. }, token } = self;
        drop(future);
        ready();
        soon(&1, &format!("{name}: owners of what it had"), || Arc::strong_count(&token));
        check(&runtime);
        assert_eq!(runtime.shutdown_timeout(LONG), Ok(()), "{name}");
    }

    /// Polls the future here. True if it waits.
    #[track_caller]
    fn poll(&mut self, alarm: &Arc<Alarm>) -> bool {
        let _entered = self.runtime.handle().enter();
        let waker = Waker::from(Arc::clone(alarm));
        let poll = self.subject.future.as_mut().poll(&mut Context::from_waker(&waker));
        assert!(poll.is_pending() || !self.subject.waits, "{}: is ready at once", self.name);
        poll.is_pending()
    }

    /// Takes the future, and leaves a dummy.
    fn take(&mut self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        std::mem::replace(&mut self.subject.future, Box::pin(async {}))
    }

    /// Drops the future, and checks that its waker is gone.
    fn drop_here(&mut self, alarm: &Arc<Alarm>) {
        drop(self.take());
        self.expect_forgotten(alarm);
    }

    fn expect_forgotten(&self, alarm: &Arc<Alarm>) {
        soon(&1, &format!("{}: its waker and who has it", self.name), || Arc::strong_count(alarm));
    }
}

/// Does the same with each subject.
fn each(subjects: &[(&'static str, subjects::Make)], body: impl Fn(Case)) {
    shared(|| {
        for (name, make) in subjects {
            let (runtime, token) = (runtime(2), Arc::new(()));
            let entered = runtime.handle().enter();
            let subject = make(&runtime, Arc::clone(&token));
            drop(entered);
            body(Case { name, runtime, subject, token });
        }
    });
}

fn both() -> Vec<(&'static str, subjects::Make)> {
    [ALL, IN_TASKS].concat()
}

#[test]
fn unpolled() {
    each(&both(), Case::end);
}

#[test]
fn pending() {
    each(ALL, |mut case| {
        let alarm = Arc::default();
        case.poll(&alarm);
        case.drop_here(&alarm);
        case.end();
    });
}

#[test]
fn woken_and_not_polled_again() {
    each(ALL, |mut case| {
        let alarm = Arc::<Alarm>::default();
        if case.poll(&alarm) {
            std::mem::replace(&mut case.subject.ready, Box::new(|| ()))();
            soon(&true, &format!("{}: is woken", case.name), || alarm.rang());
        }
        case.drop_here(&alarm);
        case.end();
    });
}

#[test]
fn polled_for_one_and_then_for_another() {
    each(ALL, |mut case| {
        let (one, other) = (Arc::default(), Arc::default());
        if case.poll(&one) {
            let _entered = case.runtime.handle().enter();
            let waker = Waker::from(Arc::clone(&other));
            let _ = case.subject.future.as_mut().poll(&mut Context::from_waker(&waker));
            drop(waker);
            case.expect_forgotten(&one);
        }
        case.drop_here(&other);
        case.end();
    });
}

#[test]
fn pending_here_and_dropped_elsewhere() {
    each(ALL, |mut case| {
        let alarm = Arc::default();
        case.poll(&alarm);
        let future = case.take();
        thread::spawn(move || drop(future)).join().unwrap();
        case.expect_forgotten(&alarm);
        case.end();
    });
    each(ALL, |mut case| {
        let alarm = Arc::default();
        case.poll(&alarm);
        let future = case.take();
        let task = case.runtime.spawn_unique(async move { drop(future) });
        case.runtime.block_on(task).unwrap();
        case.expect_forgotten(&alarm);
        case.end();
    });
}

#[test]
fn pending_in_a_task_which_goes_on() {
    each(&both(), |mut case| {
        let (mut future, waits) = (case.take(), case.subject.waits);
        let task = case.runtime.spawn_unique(async move {
            let poll = once(future.as_mut()).await;
            assert!(poll.is_pending() || !waits, "it is ready at once");
            drop(future);
            yield_now().await;
        });
        case.runtime.block_on(task).unwrap();
        case.end();
    });
}

#[test]
fn pending_in_a_task_and_dropped_by_a_foreign_thread() {
    each(&both(), |mut case| {
        let mut future = case.take();
        let task = case.runtime.spawn_unique(async move {
            let _ = once(future.as_mut()).await;
            thread::spawn(move || drop(future)).join().unwrap();
            yield_now().await;
        });
        case.runtime.block_on(task).unwrap();
        case.end();
    });
}

#[test]
fn the_other_branch_of_a_select_is_ready() {
    each(&both(), |mut case| {
        let future = case.take();
        let task = case.runtime.spawn_unique(async move {
            colored::select! {
                biased;
                () = future => {}
                () = yield_now() => {}
            }
        });
        case.runtime.block_on(task).unwrap();
        case.end();
    });
}

/// Polls its future, and reports when it waits.
struct Says {
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
    polled: Arc<AtomicBool>,
}

impl Future for Says {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let poll = self.future.as_mut().poll(cx);
        self.polled.store(true, Ordering::Release);
        poll
    }
}

/// Shows G8.
#[test]
fn pending_in_a_task_while_the_runtime_ends() {
    each(&both(), |mut case| {
        let polled = Arc::new(AtomicBool::new(false));
        let says = Says { future: case.take(), polled: Arc::clone(&polled) };
        let task = case.runtime.spawn_unique(says);
        soon(&true, case.name, || polled.load(Ordering::Acquire));
        let Case { name, runtime: home, subject: Subject { ready, check, .. }, token, .. } = case;
        home.shutdown_background();
        ready();
        drop(check);
        match runtime(1).block_on(task) {
            Ok(()) => {}
            Err(error) => assert!(error.is_cancelled(), "{name}: {error}"),
        }
        soon(&1, &format!("{name}: owners of what it had"), || Arc::strong_count(&token));
    });
}

#[test]
fn pending_and_dropped_when_the_runtime_has_ended() {
    each(ALL, |mut case| {
        let alarm = Arc::default();
        case.poll(&alarm);
        let future = case.take();
        let Case { name, runtime, subject: Subject { ready, check, stage, .. }, token, .. } = case;
        let late = thread::spawn(move || {
            thread::sleep(Duration::from_millis(2));
            // An open stage would give its sender room, and wait for the event.
            soon(&true, name, || stage.as_ref().is_none_or(|stage| stage.is_closed()));
            ready();
        });
        assert_eq!(runtime.shutdown_timeout(LONG), Ok(()), "{name}");
        late.join().unwrap();
        drop((future, check));
        soon(&1, &format!("{name}: its waker and who has it"), || Arc::strong_count(&alarm));
        soon(&1, &format!("{name}: owners of what it had"), || Arc::strong_count(&token));
    });
}
