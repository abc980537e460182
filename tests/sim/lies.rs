//! Lies, of which a simulated program must find each: those of the core's own simulator, told to a program of a user. A
//! check that cannot fail checks nothing.
//!
//! A lie stands between the program and the runtime, where the runtime would be wrong. Two lies of the core have no form
//! here: a slice that begins before the last one of its worker has ended, and a lane that stays in the table. A program sees
//! neither slices nor lanes.

use colored::sim::{Builder, Report};
use colored::{Color, ColorCell, Handle, Priority, exclusive, spawn_colored, when, yield_now};
use colored_tests::join_all;
use std::future::poll_fn;
use std::mem::forget;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    None,
    /// A post runs on the spot, under another color.
    Unscheduled,
    /// Two posts change places.
    SwappedPosts,
    /// Two `when`s over the same cells change places, under one of the colors.
    SwappedWhens,
    /// A reader sees a value in the middle of a change.
    ReaderBesideWriter,
    /// A wake does not reach its task.
    LostWake,
    /// What was pushed to a color is not run, because nobody wakes its worker.
    LostUnpark,
    /// A future is never dropped.
    ForgottenFuture,
    /// A future is dropped twice.
    DroppedTwice,
    /// A task ends in another way than its handle says.
    WrongOutcome,
    /// A low priority in place of a high one.
    WrongPriority,
    /// A wait that is refused although it would end.
    WrongDiagnosis,
    /// A section begins before the work that waits for its color.
    SectionAtOnce,
}

/// Each lie, and a part of the failure's message.
const LIES: [(Lie, &str); 12] = [
    (Lie::Unscheduled, "G1: a post runs under another color"),
    (Lie::SwappedPosts, "G2: posts are out of order"),
    (Lie::SwappedWhens, "G2: whens are out of order"),
    (Lie::ReaderBesideWriter, "G1: half of a change"),
    (Lie::LostWake, "nothing is runnable"),
    (Lie::LostUnpark, "nothing is runnable"),
    (Lie::ForgottenFuture, "G8: dropped 0 times"),
    (Lie::DroppedTwice, "G8: dropped 2 times"),
    (Lie::WrongOutcome, "G9: another outcome"),
    (Lie::WrongPriority, "G7: low before high"),
    (Lie::WrongDiagnosis, "G12: a wait that would end is refused"),
    (Lie::SectionAtOnce, "G7: a section before work that waits"),
];

fn run(lie: Lie, seeds: u64) -> Report {
    Builder::new().seeds(0..seeds).run(move || tell(lie))
}

/// Colors have an order among each other on one worker only.
fn run_on_one_worker(lie: Lie, seeds: u64) -> Report {
    Builder::new().workers(1..=1).seeds(0..seeds).run(move || priorities(lie))
}

#[test]
fn each_lie_is_found() {
    for (lie, text) in LIES {
        let run = if lie == Lie::WrongPriority { run_on_one_worker } else { run };
        let report = run(lie, 1000);
        let failure = report.failure().unwrap_or_else(|| panic!("{lie:?} is not found: {report}"));
        assert!(failure.message().contains(text), "{lie:?}: {failure}");
        assert_eq!(failure.differs(), None, "{lie:?}: {failure}");
    }
}

#[test]
fn without_a_lie_nothing_is_found() {
    run(Lie::None, 200).assert_passed();
    run_on_one_worker(Lie::None, 200).assert_passed();
}

/// A program that checks what the runtime promises, with a lie in between.
async fn tell(lie: Lie) {
    posts(lie).await;
    whens(lie).await;
    readers(lie).await;
    wakes(lie).await;
    futures(lie).await;
    diagnosis(lie).await;
    sections(lie).await;
}

async fn posts(lie: Lie) {
    let cell = ColorCell::new(1, Vec::new());
    let order = if lie == Lie::SwappedPosts { [1, 0] } else { [0, 1] };
    for number in order {
        let note = move |log: &mut Vec<u32>| {
            let is_its_own = Color::current() == Some(Color::new(1));
            assert!(is_its_own, "G1: a post runs under another color");
            log.push(number);
        };
        if lie == Lie::Unscheduled {
            note(&mut Vec::new());
        } else {
            cell.post(note);
        }
    }
    assert!(cell.call(std::mem::take).await == [0, 1], "G2: posts are out of order");
}

async fn whens(lie: Lie) {
    let (left, right) = (ColorCell::new(1, Vec::new()), ColorCell::new(2, Vec::new()));
    join_all([3, 4].map(|number: u64| {
        let (left, right) = (left.clone(), right.clone());
        spawn_colored(number, async move {
            if lie == Lie::SwappedWhens {
                let order = if number == 3 { [left, right] } else { [right, left] };
                for cell in order {
                    cell.call(move |log| log.push(number)).await;
                }
            } else {
                when((&left, &right), move |left, right| {
                    left.push(number);
                    right.push(number);
                })
                .await;
            }
        })
    }))
    .await;
    let is_same = left.call(std::mem::take).await == right.call(std::mem::take).await;
    assert!(is_same, "G2: whens are out of order");
}

async fn readers(lie: Lie) {
    let cell = ColorCell::new(1, (0, 0));
    // What a reader would see that is not kept from a change.
    let beside = Arc::new(Mutex::new((0, 0)));
    let write = {
        let (cell, beside) = (cell.clone(), beside.clone());
        spawn_colored(1, async move {
            exclusive(async {
                cell.with(|pair| pair.0 += 1);
                beside.lock().unwrap().0 += 1;
                yield_now().await;
                cell.with(|pair| pair.1 += 1);
                beside.lock().unwrap().1 += 1;
            })
            .await;
        })
    };
    let read = spawn_colored(2, async move {
        let pair = if lie == Lie::ReaderBesideWriter {
            *beside.lock().unwrap()
        } else {
            cell.read(|pair| *pair).await
        };
        pair.0 == pair.1
    });
    let is_whole = read.await.unwrap();
    write.await.unwrap();
    assert!(is_whole, "G1: half of a change");
}

/// Is ready when it has been fired.
#[derive(Default)]
struct Signal(Mutex<(bool, Option<Waker>)>);

impl Signal {
    fn fire(&self, lie: Lie) {
        let mut state = self.0.lock().unwrap();
        state.0 = true;
        let waker = state.1.take();
        drop(state);
        if let Some(waker) = waker.filter(|_| lie != Lie::LostWake) {
            waker.wake();
        }
    }

    fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap();
        if state.0 {
            return Poll::Ready(());
        }
        state.1 = Some(cx.waker().clone());
        Poll::Pending
    }
}

async fn wakes(lie: Lie) {
    let signal = Arc::new(Signal::default());
    let wait = {
        let signal = signal.clone();
        spawn_colored(1, async move { poll_fn(|cx| signal.poll(cx)).await })
    };
    let cell = ColorCell::new(2, ());
    let fire = move |(): &mut ()| signal.fire(lie);
    if lie == Lie::LostUnpark {
        forget(fire);
    } else {
        cell.post(fire);
    }
    wait.await.unwrap();
}

/// Counts how often it is dropped.
struct Counted {
    drops: Arc<AtomicU32>,
    lie: Lie,
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.drops.fetch_add(if self.lie == Lie::DroppedTwice { 2 } else { 1 }, SeqCst);
    }
}

async fn futures(lie: Lie) {
    let drops = Arc::new(AtomicU32::new(0));
    let counted = Counted { drops: drops.clone(), lie };
    let task = spawn_colored(1, async move {
        let counted = if lie == Lie::ForgottenFuture {
            forget(counted);
            None
        } else {
            Some(counted)
        };
        yield_now().await;
        drop(counted);
        7
    });
    let outcome = task.await;
    let outcome = if lie == Lie::WrongOutcome { None } else { outcome.ok() };
    assert!(outcome == Some(7), "G9: another outcome");
    let drops = drops.load(SeqCst);
    assert!(drops == 1, "G8: dropped {drops} times");
}

async fn priorities(lie: Lie) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let handle = Handle::current();
    let (high, low) = if lie == Lie::WrongPriority {
        (Priority::Low, Priority::High)
    } else {
        (Priority::High, Priority::Low)
    };
    handle.set_priority(1, low);
    handle.set_priority(2, high);
    join_all([1, 2].map(|color: u64| {
        let log = log.clone();
        spawn_colored(color, async move { log.lock().unwrap().push(color) })
    }))
    .await;
    assert!(*log.lock().unwrap() == [2, 1], "G7: low before high");
}

async fn diagnosis(lie: Lie) {
    let cell = ColorCell::new(2, 5);
    let section = spawn_colored(1, async move {
        exclusive(async { cell.checked_call(|value| *value).await }).await
    });
    let seen = section.await.unwrap();
    let is_refused = seen.is_err() != (lie == Lie::WrongDiagnosis);
    assert!(!is_refused, "G12: a wait that would end is refused");
}

async fn sections(lie: Lie) {
    let cell = ColorCell::new(1, Vec::new());
    let log = cell.clone();
    let task = spawn_colored(1, async move {
        exclusive(async {}).await;
        log.post(|log| log.push("work"));
        let section = || log.with(|log| log.push("section"));
        if lie == Lie::SectionAtOnce {
            section();
        } else {
            exclusive(async { section() }).await;
        }
    });
    task.await.unwrap();
    let log = cell.call(std::mem::take).await;
    assert!(log == ["work", "section"], "G7: a section before work that waits");
}
