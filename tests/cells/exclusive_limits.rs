//! The end of a section that was taken out of its task, and operations that a section refuses.

use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{Color, exclusive, hop, spawn_colored, yield_now};
use colored_tests::polls::{both, once, panic_of_task};
use colored_tests::{run, watched};
use std::future::{Future, pending};
use std::pin::{Pin, pin};
use std::task::{Context, Waker};
use std::thread;

const RED: u64 = 1;
const BLUE: u64 = 2;

/// The future of a section, taken out of its task after it has been polled.
fn stray(color: u64) -> (colored::JoinHandle<()>, oneshot::Receiver<Pin<Box<Section>>>) {
    let (send, receive) = oneshot::channel();
    let task = spawn_colored(color, async move {
        let mut section: Pin<Box<Section>> = Box::pin(exclusive(Box::pin(pending::<()>())));
        assert!(once(section.as_mut()).await.is_pending());
        send.send(section).map_err(drop).unwrap();
        pending::<()>().await;
    });
    (task, receive)
}

type Section = colored::task::Exclusive<Pin<Box<std::future::Pending<()>>>>;

/// Shows G11.
#[test]
fn a_section_that_was_taken_away_ends_where_it_is_dropped() {
    run(2, async {
        for round in 0..100 {
            let (task, section) = stray(RED);
            let section = section.await.unwrap();
            let behind = spawn_colored(RED, async {});
            if round % 10 == 0 {
                sleep(Duration::from_millis(1)).await;
                assert!(!behind.is_finished());
            }
            if round % 2 == 0 {
                thread::spawn(move || drop(section)).join().unwrap();
            } else {
                spawn_colored(BLUE, async move { drop(section) }).await.unwrap();
            }
            behind.await.unwrap();
            assert!(!task.is_finished());
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
    });
}

/// A section that outlives its task holds nothing any more.
/// Shows G11.
#[test]
fn a_section_that_was_taken_away_ends_with_its_task() {
    run(2, async {
        let (task, section) = stray(RED);
        let section = section.await.unwrap();
        let behind = spawn_colored(RED, async {});
        task.abort();
        behind.await.unwrap();
        let other = spawn_colored(RED, exclusive(sleep(Duration::from_millis(2))));
        let behind = spawn_colored(RED, async {});
        sleep(Duration::from_millis(1)).await;
        drop(section);
        behind.await.unwrap();
        assert!(other.is_finished());
    });
}

/// Shows G11.
#[test]
fn a_section_does_not_go_on_in_another_task() {
    run(2, async {
        let (task, section) = stray(RED);
        let section = section.await.unwrap();
        let owner = task.id();
        let said = panic_of_task(BLUE, section).await;
        assert!(said.contains("tests/cells/exclusive_limits.rs:"), "{said}");
        assert!(said.contains(&format!("{owner:?}")), "{said}");
        spawn_colored(RED, async {}).await.unwrap();
        task.abort();
    });
}

/// Shows G11.
#[test]
fn a_section_stays_under_its_color() {
    run(2, async {
        let line = line!() + 1;
        let said = panic_of_task(RED, exclusive(hop(Color::new(BLUE)))).await;
        assert!(said.contains("hop(color 0x2)"), "{said}");
        assert_eq!(
            said.matches(&format!("tests/cells/exclusive_limits.rs:{line}")).count(),
            2,
            "{said}"
        );

        let beside = both(exclusive(pending()), hop(Color::new(BLUE)));
        let said = panic_of_task(RED, beside).await;
        assert!(said.contains("beside a section"), "{said}");

        let after = both(hop(Color::new(BLUE)), exclusive(pending()));
        let said = panic_of_task(RED, after).await;
        assert!(said.contains("told to hop to color 0x2"), "{said}");

        spawn_colored(RED, async {
            exclusive(hop(Color::new(RED))).await;
            hop(Color::new(BLUE)).await;
            exclusive(yield_now()).await;
            assert_eq!(Color::current(), Some(Color::new(BLUE)));
        })
        .await
        .unwrap();
    });
}

#[test]
fn a_misused_section_says_so() {
    watched(|| {
        let mut section = pin!(exclusive(async {}));
        let poll = || section.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        let said = colored_tests::panic_of(poll);
        assert!(said.contains("outside a task"), "{said}");
    });
    run(1, async {
        let said = panic_of_task(RED, async {
            let mut sections: Vec<_> =
                (0..128).map(|_| Box::pin(exclusive(pending::<()>()))).collect();
            for section in &mut sections {
                assert!(once(section.as_mut()).await.is_pending());
            }
        })
        .await;
        assert!(said.contains("at most 127 sections"), "{said}");
        let said = panic_of_task(RED, async {
            let mut section = pin!(exclusive(async {}));
            section.as_mut().await;
            section.await;
        })
        .await;
        assert!(said.contains("again after it had ended"), "{said}");
    });
}
