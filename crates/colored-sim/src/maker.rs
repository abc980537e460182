//! [`Maker`]: a thread that makes runs, one after another, with what its caller lends it, until the caller gives it up.

use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

type Job = Box<dyn FnOnce() + Send>;

/// A thread that does what it is asked to. It ends when this is dropped, which waits for that; one that was given up is left
/// alone.
pub struct Maker {
    /// None once the thread was given up, or has ended.
    thread: Option<(Arc<Place>, JoinHandle<()>)>,
}

/// Where the thread finds what it does next. A channel would keep something in a thread-local of the thread.
#[derive(Default)]
struct Place {
    next: Mutex<Next>,
    has_changed: Condvar,
}

#[derive(Default)]
enum Next {
    #[default]
    Nothing,
    Job(Job),
    End,
}

impl Place {
    fn put(&self, next: Next) {
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = next;
        self.has_changed.notify_one();
    }

    /// The next job. None when there are no more.
    fn wait(&self) -> Option<Job> {
        let next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.has_changed.wait_while(next, |next| matches!(next, Next::Nothing));
        match mem::take(&mut *next.unwrap_or_else(PoisonError::into_inner)) {
            Next::Job(job) => Some(job),
            _ => None,
        }
    }
}

impl Maker {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// The system's, if there is no thread.
    pub fn start(builder: Builder) -> io::Result<Self> {
        let place = Arc::<Place>::default();
        let jobs = Arc::clone(&place);
        let thread = builder.spawn(move || {
            while let Some(job) = jobs.wait() {
                job();
            }
        })?;
        Ok(Self { thread: Some((place, thread)) })
    }

    /// Runs `body` on the thread, and returns what comes of it: its panic, if it panics. Asks `is_given_up` each time that it
    /// has waited for so long: then the thread is left alone, and there is no result.
    ///
    /// # Panics
    ///
    /// If the thread was given up before.
    pub fn run<L: Sync, T: Send + 'static>(
        &mut self,
        lent: &L,
        body: impl FnOnce(&Lent<L>) -> T + Send + 'static,
        wait: Duration,
        is_given_up: impl FnMut() -> bool,
    ) -> Option<thread::Result<T>> {
        // A thread whose caller panics meanwhile is left alone, too.
        let (place, thread) = self.thread.take().expect("the thread was not given up");
        let put = |job| place.put(Next::Job(job));
        let result = lend(lent, body, wait, is_given_up, put);
        if result.is_some() {
            self.thread = Some((place, thread));
        }
        result
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        if let Some((place, thread)) = self.thread.take() {
            place.put(Next::End);
            // Its jobs catch their panics.
            let _ = thread.join();
        }
    }
}

/// As [`Maker::run`], on a thread of its own, which has ended when this returns a result.
///
/// # Errors
///
/// The system's, if there is no thread.
pub fn run_on_a_thread<L: Sync, T: Send + 'static>(
    builder: Builder,
    lent: &L,
    body: impl FnOnce(&Lent<L>) -> T + Send + 'static,
    wait: Duration,
    is_given_up: impl FnMut() -> bool,
) -> io::Result<Option<thread::Result<T>>> {
    let mut started = None;
    let start = |job| started = Some(builder.spawn(job));
    let result = lend(lent, body, wait, is_given_up, start);
    let thread = started.expect("it was started")?;
    if result.is_some() {
        // The job catches its panic.
        let _ = thread.join();
    }
    Ok(result)
}

/// What a caller has lent, as the thread sees it that may use it.
pub struct Lent<L> {
    lent: *const L,
    gate: Arc<Gate>,
}

// SAFETY: each thread that has it uses the value by a shared reference, inside of `with`.
unsafe impl<L: Sync> Send for Lent<L> {}

impl<L> Lent<L> {
    /// Calls `f` with what is lent. If the caller has taken it back, this never returns: the thread was given up.
    pub fn with<R>(&self, f: impl FnOnce(&L) -> R) -> R {
        let mut state = self.gate.lock();
        while state.is_closed {
            drop(state);
            thread::park();
            state = self.gate.lock();
        }
        state.inside += 1;
        drop(state);
        let _inside = Inside(&self.gate);
        // SAFETY: the pointer is from a reference that `lend` has as an argument. `lend` closes the gate before it is left, which
        // waits until nothing is inside, and from then on nothing comes here. So the reference lives for as long as `f` runs.
        f(unsafe { &*self.lent })
    }
}

/// Where a thread enters to use what is lent.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    is_left: Condvar,
}

#[derive(Default)]
struct State {
    inside: usize,
    is_closed: bool,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Inside<'a>(&'a Gate);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.lock().inside -= 1;
        self.0.is_left.notify_all();
    }
}

/// Closes the gate when it is dropped, once nobody is inside.
struct Closes<'a>(&'a Gate);

impl Drop for Closes<'_> {
    fn drop(&mut self) {
        let nobody = self.0.is_left.wait_while(self.0.lock(), |state| state.inside > 0);
        nobody.unwrap_or_else(PoisonError::into_inner).is_closed = true;
    }
}

/// Has a thread run `body`: `start` gives it the job. None if there is no thread for it, or it was given up.
fn lend<L: Sync, T: Send + 'static>(
    lent: &L,
    body: impl FnOnce(&Lent<L>) -> T + Send + 'static,
    wait: Duration,
    mut is_given_up: impl FnMut() -> bool,
    start: impl FnOnce(Job),
) -> Option<thread::Result<T>> {
    let gate = Arc::new(Gate::default());
    let view = Lent { lent, gate: Arc::clone(&gate) };
    let (ended, has_ended) = channel();
    let job: Box<dyn FnOnce() + Send + '_> = Box::new(move || {
        let result = catch_unwind(AssertUnwindSafe(|| body(&view)));
        drop(view);
        // A caller that has given up this thread does not listen.
        let _ = ended.send(result);
    });
    // SAFETY: the two types differ in a lifetime, that of what `lent` refers to. The job reaches that by the view alone, which
    // gives it out inside of `Lent::with` only; the gate is closed before this function is left, on each way out of it. What
    // else the job has, and its result, is `'static`.
    let job = unsafe { mem::transmute::<Box<dyn FnOnce() + Send + '_>, Job>(job) };
    let _closes = Closes(&gate);
    start(job);
    wait_for(&has_ended, wait, &mut is_given_up)
}

fn wait_for<T>(
    has_ended: &Receiver<T>,
    wait: Duration,
    is_given_up: &mut impl FnMut() -> bool,
) -> Option<T> {
    loop {
        match has_ended.recv_timeout(wait) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) if is_given_up() => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Maker, run_on_a_thread};
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::sync::mpsc::channel;
    use std::thread::{self, Builder, sleep};
    use std::time::Duration;

    const WAIT: Duration = Duration::from_millis(1);

    fn maker() -> Maker {
        Maker::start(Builder::new()).unwrap()
    }

    #[test]
    fn one_thread_does_one_thing_after_another() {
        thread_local!(static COUNT: Cell<u32> = const { Cell::new(0) });
        let (mut maker, lent) = (maker(), vec![7]);
        for run in 1..4 {
            let body = move |lent: &super::Lent<Vec<u32>>| {
                COUNT.set(COUNT.get() + 1);
                (COUNT.get(), lent.with(|lent| lent[0] + run), thread::current().id())
            };
            let (count, sum, thread) = maker.run(&lent, body, WAIT, || false).unwrap().unwrap();
            assert_eq!((count, sum), (run, 7 + run));
            assert_ne!(thread, thread::current().id());
        }
    }

    #[test]
    fn a_thread_that_was_given_up_gets_nothing_more() {
        let (mut maker, calls) = (maker(), AtomicU32::new(0));
        let (go_on, waits) = channel::<()>();
        let (inside, has_begun) = channel();
        let body = move |lent: &super::Lent<AtomicU32>| {
            lent.with(|calls| calls.fetch_add(1, SeqCst));
            inside.send(()).unwrap();
            waits.recv().unwrap_err();
            lent.with(|calls| calls.fetch_add(1, SeqCst))
        };
        let is_given_up = || has_begun.try_recv().is_ok();
        assert!(maker.run(&calls, body, WAIT, is_given_up).is_none());
        drop(go_on);
        sleep(20 * WAIT);
        assert_eq!(calls.into_inner(), 1, "the thread sleeps before the second call");
    }

    #[test]
    fn what_is_in_use_is_waited_for() {
        let calls = AtomicU32::new(0);
        let ((inside, has_begun), (go_on, waits)) = (channel(), channel());
        let body = move |lent: &super::Lent<AtomicU32>| {
            lent.with(|calls| {
                inside.send(()).unwrap();
                waits.recv().unwrap();
                sleep(50 * WAIT);
                calls.fetch_add(1, SeqCst)
            })
        };
        let never = || -> bool {
            has_begun.recv().unwrap();
            go_on.send(()).unwrap();
            panic!("of the watch")
        };
        let watched = AssertUnwindSafe(|| maker().run(&calls, body, WAIT, never));
        assert!(catch_unwind(watched).is_err());
        assert_eq!(calls.into_inner(), 1);
    }

    #[test]
    fn a_panic_is_a_result() {
        let lent = String::from("of the run");
        let body = |lent: &super::Lent<String>| lent.with(|text| panic!("{text}"));
        let mut maker = maker();
        for _ in 0..2 {
            let panic = maker.run::<_, ()>(&lent, body, WAIT, || false).unwrap().unwrap_err();
            assert_eq!(panic.downcast_ref::<String>(), Some(&lent));
        }
        let length = |lent: &super::Lent<String>| lent.with(String::len);
        let ended = run_on_a_thread(Builder::new(), &lent, length, WAIT, || false);
        assert_eq!(ended.unwrap().unwrap().unwrap(), 10);
    }
}
