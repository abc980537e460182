//! G12: waits that only the end of a section could end are errors.

use super::{BLUE, RED};
use crate::support::{Kind, run, spawn_as};
use colored::sync::oneshot;
use colored::{CallError, Color, ColorCell};

/// Shows G12.
#[test]
#[expect(clippy::async_yields_async, reason = "the section ends before its task does")]
fn a_section_that_waits_for_its_own_color_gets_an_error() {
    for (section, awaited) in Kind::pairs() {
        run(2, async move {
            let task = spawn_as!(section, RED, {
                let mut inner = hold!({
                    let mut inner = awaited.spawn_steps(Color::new(RED), 1, |_| ());
                    let error = wait!(&mut inner).unwrap_err();
                    assert!(error.is_deadlock(), "{error}");
                    let text = error.deadlock().unwrap().to_string();
                    assert!(text.contains(file!()), "{text}");
                    inner
                });
                // Nothing is lost: it runs when the section is over.
                wait!(&mut inner).unwrap();
            });
            task.await.unwrap();
        });
    }
}

/// Each of two sections calls a cell of the other's color.
/// Shows G12.
#[test]
fn one_section_of_a_cycle_gets_an_error_and_the_other_goes_on() {
    for (first, second) in Kind::pairs() {
        run(2, async move {
            let cells = [RED, BLUE].map(|color| ColorCell::new(color, color));
            let [red, blue] = cells.clone();
            let ((to_blue, from_red), (to_red, from_blue)) =
                (oneshot::channel(), oneshot::channel());
            let one = spawn_as!(first, RED, {
                hold!({
                    to_blue.send(()).unwrap();
                    wait!(from_blue).unwrap();
                    wait!(blue.checked_call(|n| *n))
                })
            });
            let other = spawn_as!(second, BLUE, {
                hold!({
                    to_red.send(()).unwrap();
                    wait!(from_red).unwrap();
                    wait!(red.checked_call(|n| *n))
                })
            });
            let results = [(one.await.unwrap(), BLUE), (other.await.unwrap(), RED)];
            let mut texts = Vec::new();
            for (result, color) in results {
                match result {
                    Ok(n) => assert_eq!(n, color),
                    Err(CallError::Deadlock(deadlock)) => texts.push(deadlock.to_string()),
                    Err(error) => panic!("{error}"),
                }
            }
            assert_eq!(texts.len(), 1, "{first:?} {second:?}");
            assert!(texts[0].matches(file!()).count() >= 2, "both waits: {}", texts[0]);
            for cell in cells {
                cell.call(|_| ()).await;
            }
        });
    }
}
