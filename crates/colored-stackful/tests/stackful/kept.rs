//! What a stack keeps while it is suspended.

use crate::support::run;
use colored::time::Duration;
use colored_stackful as stackful;
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::thread;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LIST: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Sets the thread's `errno`.
fn fail() -> i32 {
    std::fs::File::open("/nonexistent/file").unwrap_err().raw_os_error().unwrap()
}

/// Row E25 of the papers.
#[test]
fn errno_and_thread_locals_hold_after_a_thousand_waits() {
    run(4, async {
        let tasks: Vec<_> = (0..8_u64)
            .map(|index| {
                stackful::spawn_unique(move || {
                    let (thread, count) = (thread::current().id(), Rc::new(Cell::new(0)));
                    COUNT.with(|local| {
                        let before = std::ptr::from_ref(local).addr();
                        for round in 0..1000 {
                            let code = fail();
                            assert_eq!(io::Error::last_os_error().raw_os_error(), Some(code));
                            local.set(local.get() + 1);
                            count.set(count.get() + 1);
                            if round % 100 == index {
                                stackful::sleep(Duration::from_micros(50));
                            } else {
                                stackful::yield_now();
                            }
                            assert_eq!(thread::current().id(), thread);
                            COUNT.with(|again| {
                                assert_eq!(std::ptr::from_ref(again).addr(), before);
                            });
                        }
                    });
                    LIST.with(|list| list.borrow_mut().push(index));
                    count.get()
                })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), 1000);
        }
    });
}

#[test]
fn deep_recursion_needs_no_boxes() {
    fn depth_of(value: &mut dyn Iterator<Item = char>, depth: usize) -> usize {
        match value.next() {
            Some('(') => {
                if depth.is_multiple_of(100) {
                    stackful::yield_now();
                }
                depth_of(value, depth + 1)
            }
            _ => depth,
        }
    }
    run(1, async {
        let builder = stackful::Builder::new().color(1).stack_size(64 << 20);
        let text = "(".repeat(20_000);
        let task = builder.spawn(move || depth_of(&mut text.chars(), 0));
        assert_eq!(task.await.unwrap(), 20_000);
    });
}

#[test]
fn floats_and_arrays_stay_as_they_are() {
    run(2, async {
        let tasks: Vec<_> = (0..16_u32)
            .map(|index| {
                stackful::spawn(u64::from(index % 3), move || {
                    let mut numbers = [0.0_f64; 64];
                    for round in 0..100_u32 {
                        let sum = f64::from(index) * 0.5 + f64::from(round);
                        numbers[round as usize % 64] = sum;
                        stackful::yield_now();
                        assert_eq!(numbers[round as usize % 64], sum);
                    }
                    numbers.iter().sum::<f64>()
                })
            })
            .collect();
        for (index, task) in (0..16_u32).zip(tasks) {
            let rounds: u32 = (36..100).sum();
            assert_eq!(task.await.unwrap(), f64::from(index) * 32.0 + f64::from(rounds));
        }
    });
}

/// The stacks hold nothing of a thread, and the functions that wait use no thread-local.
#[test]
fn a_stack_that_may_move_goes_on_on_other_threads() {
    #[inline(never)]
    fn thread_now() -> thread::ThreadId {
        thread::current().id()
    }
    let moved = run(4, async {
        let tasks: Vec<_> = (0..64_u64)
            .map(|color| {
                let steps = move || {
                    let (mut seen, mut sum) = (thread_now(), 0);
                    let mut moves = 0;
                    for round in 0..200 {
                        stackful::wait(colored::yield_now());
                        moves += usize::from(seen != thread_now());
                        seen = thread_now();
                        sum += round;
                    }
                    assert_eq!(sum, 199 * 100);
                    moves
                };
                // SAFETY: only numbers are on the stack across a wait, and `thread_now` is not inlined.
                unsafe { stackful::spawn_migrating(color, steps) }
            })
            .collect();
        let mut moved = 0;
        for task in tasks {
            moved += task.await.unwrap();
        }
        // An abort ends it on any thread.
        // SAFETY: nothing is on the stack.
        let waits = unsafe {
            stackful::spawn_migrating(1, || stackful::wait(std::future::pending::<()>()))
        };
        colored::time::sleep(Duration::from_millis(5)).await;
        waits.abort();
        assert!(waits.await.unwrap_err().is_cancelled());
        moved
    });
    println!("{moved} moves");
}
