//! Waits that would never end, or can give nothing any more, as errors of that await.

use colored::limit::RoomError;
use colored::sync::oneshot;
use colored::time::{Duration, sleep};
use colored::{
    CallError, Color, ColorCell, Limit, checked_when, exclusive, hop, shared, spawn_colored, when,
    yield_now,
};
use colored_tests::ending::end_while_held;
use colored_tests::gate::Gate;
use colored_tests::keeper::Keeper;
use colored_tests::polls::{poll_once, that_waits};
use colored_tests::{panic_of, run, runtime, shared as test};
use std::pin::pin;

/// Calls the cell, and gives the sign while the call waits.
async fn call_first(cell: ColorCell<i32>, go: oneshot::Sender<()>) -> i32 {
    let call = that_waits(cell.call(|value| *value)).await;
    // So the other wait is the younger one.
    sleep(Duration::from_millis(1)).await;
    go.send(()).unwrap();
    call.await
}

/// Two sections: one calls a cell of the other's color, and the other one accesses a cell of the first one's color, by
/// `read` or by `when`.
/// Shows G12.
#[test]
fn a_read_and_a_when_in_a_cycle_are_errors() {
    run(3, async {
        for which in 0..3 {
            let (cell, other) = (ColorCell::new(2, 5), ColorCell::new(1, 6));
            let inner = cell.clone();
            let rest = move |()| async move {
                match which {
                    0 => inner.checked_read(|value| *value).await,
                    1 => checked_when((inner.shared(),), |value| *value).await,
                    _ => checked_when(shared([&inner]), |row| row[0]).await,
                }
            };
            let Keeper { end: go, task: reads } = Keeper::before(1, rest).await;
            let calls = spawn_colored(2, exclusive(call_first(other, go)));
            let read = reads.await.unwrap();
            let Err(CallError::Deadlock(deadlock)) = read else { panic!("{read:?}") };
            let text = deadlock.to_string();
            let does = if which == 0 { "reads" } else { "wants, by `when`," };
            assert!(text.contains(does) && text.contains(file!()), "{text}");
            assert_eq!(calls.await.unwrap(), 6, "it goes on");
            // Afterwards all accesses succeed.
            assert_eq!(cell.checked_read(|value| *value).await, Ok(5));
            assert_eq!(checked_when((&cell,), |value| *value).await, Ok(5));
        }
        hop(2).await;
        assert_eq!(Color::current(), Some(Color::new(2)));
    });
}

#[test]
fn inside_an_access_a_read_and_a_when_are_errors_that_name_their_line() {
    run(2, async {
        let (cell, other) = (ColorCell::new(7, 1), ColorCell::new(8, 1));
        // The runtime's first section is over by now.
        exclusive(async {}).await;
        other.call(|_| ()).await;
        hop(7).await;
        let inner = cell.clone();
        let texts = cell
            .exclusive(async |_| {
                let in_use = Err(CallError::InUse);
                assert_eq!(inner.checked_read(|value| *value).await, in_use);
                assert_eq!(checked_when((&other, &inner), |_, value| *value).await, in_use);
                assert_eq!(checked_when((&other, inner.shared()), |_, value| *value).await, in_use);
                assert_eq!(checked_when([&other, &inner], |row| row[1]).await, in_use);
                assert_eq!(checked_when(shared([&other, &inner]), |row| row[1]).await, in_use);
                let line = line!() + 2;
                let said = [
                    panic_of(|| poll_once(pin!(inner.read(|_| ())))),
                    panic_of(|| poll_once(pin!(when((&inner,), |_| ())))),
                ];
                [0, 1].map(|place| (said[place].clone(), format!("rs:{}:", line + place as u32)))
            })
            .await;
        for (said, site) in texts {
            assert!(said.contains("is in use") && said.contains(&site), "{said:?}: {site}");
        }
        // They have given the other color back.
        assert_eq!(other.call(|value| *value).await, 1);
    });
}

#[test]
fn at_shutdown_they_are_errors_too() {
    test(|| {
        let (first, second) = (runtime(2), runtime(1));
        let (cell, other) = (first.handle().cell(1, 1), first.handle().cell(2, 1));
        let gate = Gate::close(first.handle(), 1);
        let reader = cell.clone();
        let read = second.handle().spawn(async move { reader.checked_read(|value| *value).await });
        let both = second
            .handle()
            .spawn(async move { checked_when((&cell, &other), |one, other| *one + *other).await });
        // Both are in the line.
        second.run(async { colored::spawn(async {}).await.unwrap() });
        end_while_held(first, move || gate.open());
        assert_eq!(second.run(read).unwrap(), Err(CallError::ShutDown));
        assert_eq!(second.run(both).unwrap(), Err(CallError::ShutDown));
    });
}

/// All items inside a limit wait behind a section, which waits for the color of a task that wants room in a
/// section.
/// Shows G12.
#[test]
fn room_that_never_comes_is_an_error() {
    run(3, async {
        // A task that was admitted before the first section is not known.
        spawn_colored(1, exclusive(yield_now())).await.unwrap();
        let (limit, cell) = (Limit::new(2, 1), ColorCell::new(1, 0));
        let ours = limit.clone();
        let rest = move |()| async move {
            let error = ours.checked_reserve().await.map(drop).unwrap_err();
            // It has left the line, and gets the error again.
            let depths = (ours.depth(), ours.waiting());
            let again = ours.checked_reserve().await.map(drop).unwrap_err();
            (error, depths, again)
        };
        let Keeper { end: go, task: wants } = Keeper::before(1, rest).await;
        let section = exclusive(call_first(cell, go));
        let task = limit.try_spawn(section).unwrap();
        let (error, depths, again) = wants.await.unwrap();
        task.await.unwrap();
        assert_eq!(depths, (1, 0));
        let text = error.to_string();
        let RoomError::Deadlock(deadlock) = error else { panic!("{text}") };
        assert_eq!(deadlock.to_string(), text);
        assert!(text.contains("waits for room in a limit of color 0x2"), "{text}");
        assert!(
            text.contains("is held by the section of tests/deadlock/waits_as_errors.rs"),
            "{text}"
        );
        assert!(matches!(again, RoomError::Deadlock(_)), "{again}");
        // When the sections are over there is room.
        let ours = limit.clone();
        let permit = ours.checked_reserve().await.unwrap();
        assert_eq!(ours.depth(), 1);
        // One task waits, and is admitted; another one gets an error at the shutdown.
        let mut first = pin!(ours.checked_reserve());
        assert!(poll_once(first.as_mut()).is_pending());
        drop(permit);
        let permit = first.await.unwrap();
        let mut late = pin!(ours.checked_reserve());
        assert!(poll_once(late.as_mut()).is_pending());
        limit.close();
        assert!(matches!(late.await, Err(RoomError::Closed)));
        assert_eq!(permit.spawn(async { 5 }).await.unwrap(), 5);
    });
}
