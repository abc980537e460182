//! A `when` that has a color since before the runtime's first section, and that no task polls any more: a task that
//! needs this color inside a section over a color that the `when` lacks gets the error.

use super::{block, spawn_waiting, tell_when_it_waits};
use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{
    Color, ColorCell, JoinError, JoinHandle, exclusive, spawn_colored, spawn_unique, when,
};
use colored_tests::cells::{add, cells};
use colored_tests::polls::that_waits;
use colored_tests::{message, run};
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::thread;

const RED: Color = Color::new(1);
const BLUE: Color = Color::new(2);
const GREEN: Color = Color::new(3);

/// A task that waits in the line of blue. Its section is the runtime's first, and awaits the given task.
struct First {
    go: mpsc::Sender<()>,
    give: oneshot::Sender<JoinHandle<()>>,
    told: JoinHandle<Result<(), JoinError>>,
}

impl First {
    async fn in_line() -> Self {
        let (go, _) = block(BLUE).await;
        let (give, given) = oneshot::channel::<JoinHandle<()>>();
        let told = spawn_colored(BLUE, exclusive(async move { given.await.unwrap().await }));
        Self { go, give, told }
    }

    /// The task begins its section, awaits `task`, and gets the error, which names a `when` of this file.
    async fn expect_error(self, task: JoinHandle<()>) {
        assert!(self.give.send(task).is_ok());
        self.go.send(()).unwrap();
        let error = self.told.await.unwrap().expect_err("it is behind the `when`");
        let said = error.deadlock().expect("a deadlock").to_string();
        assert!(said.contains("goes first to the `when` at tests/deadlock/older.rs"), "{said}");
        assert!(said.contains("waits for color 0x2 too"), "{said}");
    }
}

/// A task that waits in the line of blue. Its section is the runtime's first, and reads the cell.
async fn reader_in_line(cell: &ColorCell<i32>) -> (mpsc::Sender<()>, JoinHandle<i32>) {
    let (go, _) = block(BLUE).await;
    let cell = cell.clone();
    let read = async move { exclusive(cell.read(|value| *value)).await };
    (go, spawn_colored(BLUE, read))
}

/// The task is behind its own `when`, which has its color: so the task is not polled, and cannot record its wait.
/// Shows G12.
#[test]
fn its_task_is_under_a_color_that_it_has() {
    for _ in 0..4 {
        run(3, async {
            let [red, blue] = cells([RED, BLUE]);
            let first = First::in_line().await;
            let ours = red.clone();
            let both = async move { when((&ours, &blue), add).await };
            let waiter = spawn_waiting(RED, both).await;
            // The poll ends, and the `when` gets red.
            sleep(Duration::from_millis(3)).await;
            first.expect_error(spawn_colored(RED, async {})).await;
            waiter.await.unwrap();
            assert_eq!(red.call(|red| *red).await, 1);
        });
    }
}

/// Shows G12.
#[test]
fn its_future_is_gone() {
    run(3, async {
        let [red, blue] = cells([RED, BLUE]);
        let first = First::in_line().await;
        let both = that_waits(when((&red, &blue), add)).await;
        drop(both);
        first.expect_error(spawn_colored(RED, async {})).await;
        assert_eq!(red.call(|red| *red).await, 0);
    });
}

/// A foreign thread polls the `when` once.
/// Shows G12.
#[test]
fn no_task_polls_it() {
    run(3, async {
        let [red, blue] = cells([RED, BLUE]);
        let first = First::in_line().await;
        let mut both = Box::pin(when((&red, &blue), add));
        thread::scope(|scope| {
            let poll = || both.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            assert!(scope.spawn(poll).join().unwrap().is_pending());
        });
        first.expect_error(spawn_colored(RED, async {})).await;
        both.await;
        assert_eq!(red.call(|red| *red).await, 1);
    });
}

/// Shows G12.
#[test]
fn it_only_reads_what_the_section_holds() {
    run(3, async {
        let [red, blue] = cells([RED, BLUE]);
        let first = First::in_line().await;
        let both = that_waits(when((&red, blue.shared()), |red, blue| *red += *blue)).await;
        drop(both);
        first.expect_error(spawn_colored(RED, async {})).await;
        assert_eq!(red.call(|red| *red).await, 0);
    });
}

/// A `when` waits for a color that another `when` has, which waits for the section.
/// Shows G12.
#[test]
fn one_behind_another() {
    run(3, async {
        let [red, green, blue] = cells([RED, GREEN, BLUE]);
        let first = First::in_line().await;
        let later = that_waits(when((&green, &blue), add)).await;
        let both = that_waits(when((&red, &green), add)).await;
        drop((both, later));
        first.expect_error(spawn_colored(RED, async {})).await;
        assert_eq!(red.call(|red| *red).await, 0);
    });
}

/// The `when` only reads red, in parallel with other readers; but a writer blocks later readers.
/// Shows G12.
#[test]
fn it_reads_and_a_writer_is_behind_it() {
    for _ in 0..4 {
        run(3, async {
            let [red, blue] = cells([RED, BLUE]);
            let (go, told) = reader_in_line(&red).await;
            let both = that_waits(when((red.shared(), &blue), |red, blue| *blue = *red)).await;
            // The `when` has red.
            red.read(|_| ()).await;
            drop(both);
            red.post(|red| *red += 1);
            go.send(()).unwrap();
            let error = told.await.expect_err("it is behind the post");
            let said = message(&*error.into_panic());
            assert!(said.contains("reads a cell of color 0x1"), "{said}");
            assert_eq!(red.call(|red| *red).await, 1);
        });
    }
}

/// The node that the first section puts into the line of red, to wake its waiters, is no writer.
/// Shows G12.
#[test]
fn it_reads_and_the_section_reads_beside_it() {
    for _ in 0..4 {
        run(3, async {
            let [red, blue] = cells([RED, BLUE]);
            let (go, told) = reader_in_line(&red).await;
            let both = that_waits(when((red.shared(), &blue), |red, blue| *blue = *red + 1)).await;
            // The `when` has red.
            red.read(|_| ()).await;
            go.send(()).unwrap();
            assert_eq!(told.await.unwrap(), 0);
            both.await;
            assert_eq!(blue.call(|blue| *blue).await, 1);
        });
    }
}

/// A writer that needs nothing else is behind older readers, and before the task that is joined.
/// Shows G12.
#[test]
fn one_that_writes_is_behind_one_that_reads() {
    run(3, async {
        let [red, green, blue] = cells([RED, GREEN, BLUE]);
        let first = First::in_line().await;
        let later = that_waits(when((green.shared(), &blue), |green, blue| *blue = *green)).await;
        green.read(|_| ()).await;
        let both = that_waits(when((&red, &green), add)).await;
        drop((both, later));
        first.expect_error(spawn_colored(RED, async {})).await;
        assert_eq!(red.call(|red| *red).await, 0);
    });
}

/// Work before the `when` in the line of red gets no error, and neither does work that needs none of its colors.
/// Shows G12.
#[test]
fn waits_that_are_not_blocked_get_no_error() {
    run(3, async {
        let [red, green, blue] = cells([RED, GREEN, BLUE]);
        let ((go, _), (go_red, _)) = (block(BLUE).await, block(RED).await);
        let before = spawn_colored(RED, async {});
        let (tell, joins) = oneshot::channel();
        let section = exclusive(async move {
            green.call(|green| *green += 1).await;
            spawn_unique(async {}).await.unwrap();
            tell_when_it_waits(before, tell).await
        });
        let told = spawn_colored(BLUE, section);
        let both = that_waits(when((&red, &blue), add)).await;
        drop(both);
        go.send(()).unwrap();
        joins.await.unwrap();
        go_red.send(()).unwrap();
        told.await.unwrap().expect("it is before the `when`");
        assert_eq!(red.call(|red| *red).await, 0);
    });
}
