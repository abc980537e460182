//! `ColorCell::exclusive`: `&mut T` across awaits.

use colored::sync::oneshot;
use colored::time::{Duration, sleep, timeout};
use colored::{AccessError, Color, ColorCell, spawn_colored};
use colored_tests::polls::{once, panic_of_task};
use colored_tests::run;
use std::future::{Future, pending};
use std::pin::Pin;
use std::thread;

const RED: u64 = 1;
const BLUE: u64 = 2;

/// Shows G11.
#[test]
fn a_cell_gives_its_value_across_awaits() {
    run(2, async {
        let cell = ColorCell::new(Color::new(RED), vec![0]);
        let ours = cell.clone();
        let task = spawn_colored(RED, async move {
            let sum = ours
                .exclusive(async |list| {
                    for step in 1..100 {
                        sleep(Duration::ZERO).await;
                        list.push(step);
                    }
                    list.iter().sum::<i32>()
                })
                .await;
            assert_eq!(ours.with(|list| list.len()), 100);
            sum
        });
        sleep(Duration::from_millis(1)).await;
        cell.post(|list| list.clear());
        assert_eq!(task.await.unwrap(), 4950);
        assert_eq!(cell.call(|list| list.len()).await, 0);
    });
}

/// The section excludes other tasks. The mark excludes other branches of this task, also those that
/// only read it.
/// Shows G11.
#[test]
fn a_value_in_use_across_an_await_is_in_use() {
    run(2, async {
        let cell = ColorCell::new(Color::new(RED), 7);
        let said = panic_of_task(RED, async move {
            let mut access = Box::pin(cell.exclusive(async |value| {
                *value += 1;
                pending::<()>().await;
            }));
            assert!(once(access.as_mut()).await.is_pending());
            assert_eq!(cell.try_with(|_| ()), Err(AccessError::InUse));
            cell.exclusive(async |_| ()).await;
        })
        .await;
        assert!(
            said.contains("tests/cells/exclusive_cells.rs") && said.contains("in use"),
            "{said}"
        );

        let cell = ColorCell::new(Color::new(RED), 7);
        let ours = cell.clone();
        spawn_colored(RED, async move {
            let access = ours.exclusive(async |value| {
                *value += 1;
                pending::<()>().await;
            });
            timeout(Duration::from_millis(1), access).await.unwrap_err();
            assert_eq!(ours.with(|value| *value), 8);
            ours.exclusive(async |value| *value += 1).await;
        })
        .await
        .unwrap();
        assert_eq!(cell.call(|value| *value).await, 9);
        let said = panic_of_task(BLUE, async move { cell.exclusive(async |_| ()).await }).await;
        assert!(said.contains("belongs to color 0x1"), "{said}");
    });
}

/// The borrow and the mark end with the future, wherever it is dropped; until then no other access
/// succeeds.
/// Shows G11.
#[test]
fn an_access_that_was_taken_away_ends_where_it_is_dropped() {
    type Access = Pin<Box<dyn Future<Output = ()> + Send>>;
    run(2, async {
        let cell = ColorCell::new(Color::new(RED), vec![1]);
        let (send, receive) = oneshot::channel::<Access>();
        let ours: &'static ColorCell<Vec<u32>> = Box::leak(Box::new(cell.clone()));
        let task = spawn_colored(RED, async move {
            let mut access: Access = Box::pin(ours.exclusive(async |list| {
                list.push(2);
                pending::<()>().await;
            }));
            assert!(once(access.as_mut()).await.is_pending());
            send.send(access).map_err(drop).unwrap();
        });
        let access = receive.await.unwrap();
        task.await.unwrap();
        let within = cell.clone();
        let inside = spawn_colored(RED, async move { within.try_with(|_| ()) }).await.unwrap();
        assert_eq!(inside, Err(AccessError::InUse));
        thread::spawn(move || drop(access)).join().unwrap();
        assert_eq!(cell.call(std::mem::take).await, [1, 2]);
    });
}
