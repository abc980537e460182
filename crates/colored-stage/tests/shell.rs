//! What the shell of a scheduler hears of stages and admissions. The tests step one worker by hand.

use colored_core::port::{Finish, Part};
use colored_core::{Park, Scheduler, SchedulerHandle, Step, Worker};
use colored_stage::admission::Admission;
use colored_stage::stage::{Batch, Builder, each};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

#[derive(Clone, Default)]
struct Shell(Arc<Mutex<Heard>>);

#[derive(Default)]
struct Heard {
    parts: Vec<Part>,
    overloads: usize,
}

impl Park for Shell {
    fn unpark(&self, _: usize) {}

    fn now(&self) -> u64 {
        0
    }

    fn overloaded(&self, _: &Scheduler) {
        self.0.lock().unwrap().overloads += 1;
    }

    fn finish_first(&self, part: Part) {
        self.0.lock().unwrap().parts.push(part);
    }
}

fn scheduler() -> (SchedulerHandle, Worker, Shell) {
    let shell = Shell::default();
    let (handle, mut workers) = Scheduler::with_workers(1, 1, Box::new(shell.clone()));
    (handle, workers.remove(0), shell)
}

fn run(worker: &mut Worker) {
    while worker.step() == Step::Ran {}
}

#[test]
fn a_stage_is_a_part_that_ends_when_its_events_are_handled() {
    let (handle, mut worker, shell) = scheduler();
    let _entered = handle.enter();
    let handled = Arc::new(Mutex::new(Vec::new()));
    let events = Arc::clone(&handled);
    let stage = Builder::new()
        .batch(Batch::Fixed(2))
        .build(each(move |event: u32| events.lock().unwrap().push(event)));
    for event in 0..3 {
        stage.try_send(event).unwrap();
    }
    let part = shell.0.lock().unwrap().parts.pop().expect("it was handed over");
    let kept: Arc<dyn Finish> = part.upgrade().expect("the stage lives");
    assert_eq!(kept.left(), 3);
    kept.close();
    assert!(stage.try_send(3).is_err());
    let mut drained = kept.drained();
    let mut cx = Context::from_waker(Waker::noop());
    assert_eq!(drained.as_mut().poll(&mut cx), Poll::Pending, "nothing has run");
    run(&mut worker);
    assert_eq!(drained.as_mut().poll(&mut cx), Poll::Ready(()));
    assert_eq!((kept.left(), &*handled.lock().unwrap()), (0, &vec![0, 1, 2]));
    drop(drained);
    drop((kept, stage));
    assert!(part.upgrade().is_none(), "nothing keeps a stage that has ended");
}

#[test]
fn each_refusal_is_heard_by_the_scheduler_that_the_thread_works_for() {
    let (handle, _worker, shell) = scheduler();
    let target = Duration::from_millis(1);
    let admission = Admission::new(target);
    let overloads = || shell.0.lock().unwrap().overloads;
    let late = Instant::now().checked_sub(3 * target).expect("the machine runs for longer");
    assert!(admission.admit_since(late).is_err());
    assert_eq!(overloads(), 0, "the thread works for no scheduler");
    let _entered = handle.enter();
    assert!(admission.admit_since(late).is_err());
    assert_eq!(overloads(), 1, "at arrival");
    let admitted = admission.admit().expect("nothing waits");
    std::thread::sleep(3 * target);
    assert!(admitted.begin().is_err());
    assert_eq!(overloads(), 2, "at the turn");
}
