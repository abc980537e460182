//! What also runs on the double of the switch, whose stacks are threads: so Miri follows it. The closures use what belongs
//! to the thread of a worker only in futures that they wait for.

use colored::sync::{mpsc, oneshot};
use colored::{Color, ColorCell, Runtime, spawn_colored};
use colored_stackful as stackful;
use std::panic::{catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn run<F>(future: F) -> F::Output
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    Runtime::builder().workers(2).build().expect("the runtime starts").run(future)
}

struct Count(Arc<AtomicUsize>);

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn tasks_send_to_each_other() {
    let sum = run(async {
        let (send, mut receive) = mpsc::channel(2);
        let sends = stackful::spawn(1, move || {
            for n in 0..10 {
                stackful::wait(send.send(Box::new(n))).unwrap();
            }
        });
        let sums = stackful::spawn(2, move || {
            let mut sum = 0;
            while let Some(n) = stackful::wait(receive.recv()) {
                sum += *n;
                stackful::yield_now();
            }
            sum
        });
        sends.await.unwrap();
        sums.await.unwrap()
    });
    assert_eq!(sum, 45);
}

#[test]
fn the_color_is_that_of_the_task() {
    run(async {
        let cell = ColorCell::new(1, 0);
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let cell = cell.clone();
                stackful::spawn(1, move || {
                    for _ in 0..5 {
                        stackful::wait(async { cell.with(|n| *n += 1) });
                        stackful::yield_now();
                    }
                    stackful::wait(async { Color::current() })
                })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), Some(Color::new(1)));
        }
        assert_eq!(cell.call(|n| *n).await, 20);
    });
}

#[test]
fn aborts_panics_and_parts() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let ours = Arc::clone(&dropped);
    run(async move {
        let (begins, has_begun) = oneshot::channel();
        let count = [(); 3].map(|()| Count(Arc::clone(&ours)));
        let waits = stackful::spawn(1, move || {
            let [a, b, c] = count;
            let _a = a;
            stackful::join(
                move || {
                    let _b = b;
                    begins.send(()).unwrap();
                    stackful::wait(std::future::pending::<()>());
                },
                move || {
                    let _c = c;
                    stackful::wait(std::future::pending::<()>());
                },
            );
        });
        has_begun.await.unwrap();
        waits.abort();
        assert!(waits.await.unwrap_err().is_cancelled());
        let panics = stackful::spawn(1, || {
            let late = async {
                colored::yield_now().await;
                resume_unwind(Box::new(7));
            };
            let caught = catch_unwind(|| stackful::wait(late)).unwrap_err();
            stackful::yield_now();
            resume_unwind(caught);
        });
        let payload = panics.await.unwrap_err().try_into_panic().unwrap();
        assert_eq!(payload.downcast_ref(), Some(&7));
        spawn_colored(1, async {}).await.unwrap();
    });
    assert_eq!(dropped.load(Ordering::Relaxed), 3);
}
