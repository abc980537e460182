//! Flat queues keep colors apart and in order, steal whole colors, and lose no wake-up.

use colored_lab::{Events, First, Flat, Queues};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Poll, Waker};
use std::thread;

const KINDS: [Queues; 5] = [
    Queues::One,
    Queues::PerWorker { first: First::Poster, steals: true },
    Queues::PerWorker { first: First::Poster, steals: false },
    Queues::PerWorker { first: First::Number, steals: true },
    Queues::PerWorker { first: First::Number, steals: false },
];

fn start(workers: usize, kind: Queues) -> (Flat, Events) {
    let flat = Flat::start(workers, kind, |_| ());
    let events = flat.events();
    (flat, events)
}

/// Each event posts the next one of another color; two threads begin. A color's own count would miss some
/// if two of its events ran at once.
#[test]
fn two_events_of_one_color_never_run_at_once() {
    const COLORS: usize = 7;
    const STEPS: usize = 2_000;
    struct Ring {
        events: Events,
        inside: [AtomicBool; COLORS],
        runs: [AtomicU64; COLORS],
        left: AtomicUsize,
        over: Mutex<std::sync::mpsc::Sender<()>>,
    }
    fn step(ring: &Arc<Ring>, color: usize, left: usize) {
        let own = Arc::clone(ring);
        ring.events.post(color as u16, move || {
            assert!(!own.inside[color].swap(true, Ordering::Relaxed), "two run at once");
            let runs = own.runs[color].load(Ordering::Relaxed);
            own.runs[color].store(runs + 1, Ordering::Relaxed);
            own.inside[color].store(false, Ordering::Relaxed);
            if left > 0 {
                step(&own, (color + 1 + left % 2) % COLORS, left - 1);
            } else if own.left.fetch_sub(1, Ordering::AcqRel) == 1 {
                own.over.lock().unwrap().send(()).unwrap();
            }
        });
    }
    for kind in KINDS {
        let (flat, events) = start(3, kind);
        let (tell, told) = channel();
        let ring = Arc::new(Ring {
            events,
            inside: Default::default(),
            runs: Default::default(),
            left: AtomicUsize::new(40),
            over: Mutex::new(tell),
        });
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..20).for_each(|first| step(&ring, first % COLORS, STEPS)));
            }
        });
        told.recv().unwrap();
        let runs: u64 = ring.runs.iter().map(|runs| runs.load(Ordering::Relaxed)).sum();
        assert_eq!(runs, 40 * (STEPS as u64 + 1), "{kind:?}");
        drop(flat);
    }
}

#[test]
fn events_of_one_color_run_in_their_order() {
    for kind in KINDS {
        let (_flat, events) = start(3, kind);
        let traces: Arc<[Mutex<Vec<u32>>]> = (0..5).map(|_| Mutex::default()).collect();
        let (all, poster) = (Arc::clone(&traces), events.clone());
        // A worker posts them, so that thieves come.
        events.run(9, async move {
            for number in 0..5_000 {
                let (traces, color) = (Arc::clone(&all), number % 5);
                poster.post(color as u16, move || {
                    traces[color as usize].lock().unwrap().push(number);
                });
            }
        });
        for color in 0..5 {
            events.run(color, async {});
            let trace = traces[usize::from(color)].lock().unwrap();
            let own: Vec<_> = (0..5_000).filter(|number| number % 5 == u32::from(color)).collect();
            assert_eq!(*trace, own, "{kind:?}");
        }
    }
}

/// Events of different colors run in the order of their posts.
#[test]
fn one_worker_takes_events_of_all_colors_in_their_order() {
    for kind in KINDS {
        let (_flat, events) = start(1, kind);
        let trace = Arc::new(Mutex::new(Vec::new()));
        let gate = Arc::new(Barrier::new(2));
        let closed = Arc::clone(&gate);
        events.post(9, move || {
            closed.wait();
        });
        for number in 0..40 {
            let trace = Arc::clone(&trace);
            events.post(number % 4, move || trace.lock().unwrap().push(number));
        }
        gate.wait();
        events.run(9, async {});
        assert_eq!(*trace.lock().unwrap(), (0..40).collect::<Vec<_>>(), "{kind:?}");
    }
}

/// A thief takes the events of one color from between the events of other colors, and leaves the others.
#[test]
fn a_thief_takes_a_whole_color() {
    let (_flat, events) = start(2, Queues::PerWorker { first: First::Poster, steals: true });
    let ran = Arc::new(AtomicUsize::new(0));
    let (count, poster) = (Arc::clone(&ran), events.clone());
    events.run(0, async move {
        // The other worker waits until all events are there: otherwise it would steal them one by one as
        // they come.
        let [met, let_go] = [(); 2].map(|()| Arc::new(Barrier::new(2)));
        let (meets, waits) = (Arc::clone(&met), Arc::clone(&let_go));
        poster.post(9, move || {
            meets.wait();
            waits.wait();
        });
        met.wait();
        for _ in 0..50 {
            for color in 1..5 {
                let count = Arc::clone(&count);
                poster.post(color, move || {
                    count.fetch_add(1, Ordering::Relaxed);
                });
            }
        }
        let_go.wait();
        // The other worker has to steal while this one is busy here.
        while count.load(Ordering::Relaxed) < 200 {
            thread::yield_now();
        }
    });
    // The thefts are of color 9 and four more; color 0 may be stolen between two polls.
    assert!((5..=7).contains(&events.steals()), "{} thefts of five colors", events.steals());
}

#[test]
fn without_stealing_everything_runs_on_the_worker_of_its_number() {
    let (_flat, events) = start(3, Queues::PerWorker { first: First::Number, steals: false });
    let first = events.run(4, async { thread::current().id() });
    for _ in 0..100 {
        assert_eq!(events.run(4, async { thread::current().id() }), first);
    }
    // The last event may not be counted yet.
    let ran = events.ran();
    assert!(ran[1] >= 100 && ran[0] == 0 && ran[2] == 0, "{ran:?}");
}

/// Two tasks of different colors wake each other, while all other workers sleep.
#[test]
fn no_wake_up_is_lost() {
    for kind in KINDS {
        let (_flat, events) = start(3, kind);
        let turns = Arc::new((AtomicU64::new(0), [const { Mutex::new(None::<Waker>) }; 2]));
        let player = |own: usize| {
            let turns = Arc::clone(&turns);
            poll_fn(move |cx| {
                *turns.1[own].lock().unwrap() = Some(cx.waker().clone());
                let turn = turns.0.load(Ordering::Acquire);
                if turn >= 4_000 {
                    turns.1[1 - own].lock().unwrap().take().inspect(Waker::wake_by_ref);
                    return Poll::Ready(());
                }
                if turn % 2 == own as u64 {
                    turns.0.store(turn + 1, Ordering::Release);
                    turns.1[1 - own].lock().unwrap().take().inspect(Waker::wake_by_ref);
                }
                Poll::Pending
            })
        };
        events.spawn(1, player(0));
        events.run(2, player(1));
        assert!(turns.0.load(Ordering::Acquire) >= 4_000, "{kind:?}");
    }
}

/// Events that have not run when the executor is dropped are dropped with it, together with its waiting
/// tasks.
#[test]
fn events_that_have_not_run_are_dropped() {
    for kind in KINDS {
        let alive = Arc::new(());
        let (flat, events) = start(1, kind);
        let gate = Arc::new(Barrier::new(2));
        let (closed, poster, own) = (Arc::clone(&gate), events.clone(), Arc::clone(&alive));
        events.post(1, move || {
            // The worker checks after this event whether it has to stop.
            closed.wait();
            closed.wait();
            let late = Arc::clone(&own);
            poster.spawn(1, async move {
                poll_fn(|_| Poll::<()>::Pending).await;
                drop(late);
            });
        });
        gate.wait();
        let dropper = thread::spawn(move || drop(flat));
        // Once the worker has been told to stop, it runs nothing more.
        thread::sleep(std::time::Duration::from_millis(20));
        gate.wait();
        dropper.join().unwrap();
        assert_eq!(Arc::strong_count(&alive), 1, "{kind:?}");
    }
}
