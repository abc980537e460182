//! Wakers that outlive their tasks, their runtimes and the threads that had them: any thread can wake and drop them at
//! any time.

use colored::stage::{Builder, Events};
use colored::sync::oneshot;
use colored::{Color, Runtime, spawn_local, spawn_unique, yield_now};
use colored_tests::drops::keep;
use colored_tests::polls::poll_once;
use colored_tests::{runtime, shared, wait_until};
use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

const RED: Color = Color::new(1);

/// Gives its waker away, and then waits until `polls` of it are over, or for ever.
async fn give_waker(to: Sender<Waker>, polls: usize) {
    let mut left = polls;
    poll_fn(|cx| {
        let _gone = to.send(cx.waker().clone());
        left = left.saturating_sub(1);
        if left == 0 && polls > 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Every way to have a waker of a task that is gone; the task of each has had the token.
fn wakers_of_the_dead(runtime: &Runtime, token: &Arc<()>) -> Vec<Waker> {
    let (to, from) = channel();
    let own = |polls, to: &Sender<Waker>| keep(Arc::clone(token), give_waker(to.clone(), polls));
    // Complete, and its handle is gone.
    runtime.block_on(runtime.spawn_colored(RED, own(1, &to))).unwrap();
    // Detached, and complete.
    drop(runtime.spawn_unique(own(1, &to)));
    // Aborted while it waited.
    let aborted = runtime.spawn_colored(RED, own(0, &to));
    let mut wakers: Vec<Waker> = (0..3).map(|_| from.recv().unwrap()).collect();
    aborted.abort();
    assert!(runtime.block_on(aborted).unwrap_err().is_cancelled());
    // The main future, a guest's future, and a future that cannot leave its worker.
    runtime.run(own(1, &to));
    runtime.block_on(own(1, &to));
    let local = own(1, &to);
    runtime.run(async move { spawn_local(local).await.unwrap() });
    // A task inside a section, a task that hops, and a stage's task.
    runtime.run(colored::exclusive(own(1, &to)));
    let hops = own(1, &to);
    runtime.run(async move {
        colored::hop(RED).await;
        hops.await;
    });
    let entered = runtime.handle().enter();
    let (handler, kept) = (to.clone(), Arc::clone(token));
    let stage = Builder::new().build(move |_: Events<u32>| {
        let (future, kept) = (give_waker(handler.clone(), 1), Arc::clone(&kept));
        async move {
            future.await;
            drop(kept);
        }
    });
    drop(entered);
    stage.try_send(1).unwrap();
    runtime.block_on(async {
        stage.close();
        stage.drained().await;
    });
    drop((to, stage));
    wakers.extend(from);
    assert_eq!(wakers.len(), 9);
    wakers
}

/// Wakes and drops them on some threads at once, each in another order.
fn use_up(wakers: Vec<Waker>) {
    const THREADS: usize = 4;
    let start = Barrier::new(THREADS);
    thread::scope(|scope| {
        for first in 0..THREADS {
            let (mut wakers, start) = (wakers.clone(), &start);
            scope.spawn(move || {
                wakers.rotate_left(first);
                start.wait();
                for waker in wakers {
                    waker.wake_by_ref();
                    let clone = waker.clone();
                    waker.wake();
                    drop(clone);
                }
            });
        }
    });
}

#[test]
fn a_waker_outlives_its_task() {
    shared(|| {
        let (runtime, token) = (runtime(2), Arc::new(()));
        let wakers = wakers_of_the_dead(&runtime, &token);
        // The wakers keep memory, and nothing that the futures had.
        wait_until(|| Arc::strong_count(&token) == 1);
        use_up(wakers);
        // Nothing has been polled again.
        runtime.block_on(runtime.spawn_colored(RED, async {})).unwrap();
        runtime.shutdown_timeout(Duration::from_secs(20)).unwrap();
    });
}

/// Shows G8.
#[test]
fn a_waker_outlives_its_runtime() {
    shared(|| {
        let (runtime, token) = (runtime(2), Arc::new(()));
        let (to, from) = channel();
        // These tasks end with the runtime.
        for color in 0..10 {
            let gives = keep(Arc::clone(&token), give_waker(to.clone(), 0));
            drop(runtime.spawn_colored(color, gives));
        }
        let mut wakers: Vec<Waker> = (0..10).map(|_| from.recv().unwrap()).collect();
        wakers.extend(wakers_of_the_dead(&runtime, &token));
        drop(runtime);
        assert_eq!(Arc::strong_count(&token), 1, "the futures are gone, and their wakers are not");
        use_up(wakers);
    });
}

#[test]
fn wakers_are_used_while_their_runtime_ends() {
    fn wake_until_gone(wakers: &Receiver<Waker>, gone: &Weak<()>) {
        let mut own: Vec<Waker> = Vec::new();
        while gone.strong_count() > 0 {
            own.extend(wakers.try_iter());
            own.iter().for_each(Waker::wake_by_ref);
            if own.len() > 64 {
                own.drain(..32).for_each(Waker::wake);
            }
        }
    }
    shared(|| {
        for round in 0..20 {
            let (runtime, token) = (runtime(2), Arc::new(()));
            let gone = Arc::downgrade(&token);
            thread::scope(|scope| {
                for thread in 0..2 {
                    let (to, from) = channel();
                    for color in 0..8 {
                        let (token, to) = (Arc::clone(&token), to.clone());
                        drop(runtime.spawn_colored(thread * 4 + color, async move {
                            let _token = token;
                            loop {
                                give_waker(to.clone(), 2).await;
                            }
                        }));
                    }
                    let gone = gone.clone();
                    scope.spawn(move || wake_until_gone(&from, &gone));
                }
                thread::sleep(Duration::from_micros(100 * round));
                drop(token);
                drop(runtime);
            });
            assert_eq!(gone.strong_count(), 0);
        }
    });
}

/// A future that owns its own waker owns itself, until its runtime ends.
#[test]
fn a_task_that_has_its_own_waker_ends_with_its_runtime() {
    shared(|| {
        let (runtime, token) = (runtime(2), Arc::new(()));
        for color in 0..10 {
            let token = Arc::clone(&token);
            drop(runtime.spawn_colored(color, async move {
                let mut own = Vec::new();
                poll_fn(|cx| {
                    own.push(cx.waker().clone());
                    Poll::<()>::Pending
                })
                .await;
                drop(token);
            }));
        }
        runtime.run(yield_now());
        drop(runtime);
        assert_eq!(Arc::strong_count(&token), 1);
    });
}

/// The thread that has a waker ends after everything else, with the waker in a local of its own.
#[test]
fn a_waker_lies_in_a_local_of_a_thread_that_ends_last() {
    thread_local!(static KEPT: RefCell<Vec<Waker>> = const { RefCell::new(Vec::new()) });
    shared(|| {
        let (runtime, token) = (runtime(1), Arc::new(()));
        let wakers = wakers_of_the_dead(&runtime, &token);
        let (end, ended) = channel::<()>();
        let keeper = thread::spawn(move || {
            KEPT.with(|kept| kept.borrow_mut().extend(wakers));
            ended.recv().unwrap();
            KEPT.with(|kept| kept.borrow().iter().for_each(Waker::wake_by_ref));
        });
        drop(runtime);
        assert_eq!(Arc::strong_count(&token), 1);
        end.send(()).unwrap();
        keeper.join().unwrap();
    });
}

/// A complete task does not keep the task that joined it alive, even if its handle lives on.
#[test]
fn a_complete_task_has_no_waker_of_its_joiner() {
    struct NoopWake;
    impl Wake for NoopWake {
        fn wake(self: Arc<Self>) {}
    }
    shared(|| {
        let (runtime, (tell, told)) = (runtime(1), oneshot::channel::<()>());
        let task = runtime.spawn_colored(RED, async move { told.await.is_ok() });
        let (kept, joiner) = (task.abort_handle(), Arc::new(NoopWake));
        let mut task = Box::pin(task);
        let waker = Waker::from(Arc::clone(&joiner));
        assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        drop(waker);
        assert_eq!(Arc::strong_count(&joiner), 2);
        tell.send(()).unwrap();
        wait_until(|| Arc::strong_count(&joiner) == 1);
        assert!(runtime.block_on(task).unwrap());
        assert!(kept.is_finished());
    });
}

/// A foreign thread that polls a handle leaves a waker in the task; the task ends after that thread.
#[test]
fn a_task_outlives_the_thread_that_waited_for_it() {
    shared(|| {
        let (runtime, (tell, told)) = (runtime(2), channel::<()>());
        let task = runtime.spawn_blocking(move || told.recv().is_ok());
        let task = thread::spawn(move || {
            let mut task = task;
            assert!(poll_once(pin!(&mut task)).is_pending());
            task
        });
        let task = task.join().unwrap();
        tell.send(()).unwrap();
        let other = colored_tests::runtime(1);
        let joined = other.run(async move { spawn_unique(task).await.unwrap() });
        assert!(joined.unwrap());
    });
}
