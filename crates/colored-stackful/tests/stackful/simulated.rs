//! Stackful tasks in simulations.

use colored::{ColorCell, sim};
use colored_stackful as stackful;

/// Two clients read, then write: one comes between the two calls of the other.
async fn withdraw_twice() {
    let balance = ColorCell::new(1, 100);
    let withdraw = |client: u64| {
        let balance = balance.clone();
        stackful::spawn(client, move || {
            let seen = stackful::wait(balance.call(|balance| *balance));
            stackful::wait(balance.call(move |balance| *balance = seen - 10));
        })
    };
    let (one, two) = (withdraw(2), withdraw(3));
    one.await.unwrap();
    two.await.unwrap();
    sim::always!(balance.call(|balance| *balance).await == 80, "both withdrawals count");
}

#[test]
fn a_seed_finds_what_comes_between_two_waits() {
    let report = sim::Builder::new().seeds(0..200).run(withdraw_twice);
    let failure = report.failure().expect("it is found");
    assert!(failure.message().contains("both withdrawals count"), "{failure}");
}

#[test]
fn a_seed_gives_the_same_run_again() {
    let seeds = || sim::Builder::new().seeds(0..30).run(withdraw_twice);
    let (first, second) = (seeds(), seeds());
    let of = |report: &sim::Report| {
        let text = report.failure().expect("it is found").to_string();
        // The line that runs it again names each choice.
        text.split_once("again: ").expect("there is such a line").1.to_owned()
    };
    assert_eq!(of(&first), of(&second));
}

/// Clients that act on each other while they are inside a turn: the fiber goes with the stack of its turn.
async fn act_inside() {
    let cells = [1, 2, 3].map(|color: u64| ColorCell::new(color, 0_u32));
    let clients = [4, 5, 6].map(|client: u64| {
        let cells = cells.clone();
        stackful::spawn(client, move || {
            for cell in &cells {
                cell.post(|sum| *sum += 1);
                let inner = cell.clone();
                let spawned = stackful::spawn(client + 3, move || inner.post(|sum| *sum += 1));
                stackful::yield_now();
                stackful::wait(spawned).unwrap();
                stackful::wait(cell.call(|sum| *sum += 1));
            }
        })
    });
    for client in clients {
        client.await.unwrap();
    }
    for cell in &cells {
        sim::always!(cell.call(|sum| *sum).await == 9, "each act has happened");
    }
}

#[test]
fn runs_on_one_thread_are_those_on_threads() {
    for strategy in [sim::Strategy::Portfolio, sim::Strategy::Pos] {
        let builder = sim::Builder::new().seeds(0..100).strategy(strategy);
        let on_threads = builder.clone().on_threads().run(act_inside);
        let on_one = builder.run(act_inside);
        on_one.assert_passed();
        assert_eq!((on_one.unconfirmed(), on_one.stuck()), (0, 0), "{on_one}");
        assert_eq!(on_one.digest(), on_threads.digest(), "{strategy:?}: {on_one}");
    }
}

#[test]
fn aborts_and_timeouts_unwind_under_every_schedule() {
    let report = sim::Builder::new().seeds(0..100).run(|| async {
        let cell = ColorCell::new(1, 0_u32);
        let ours = cell.clone();
        let task = stackful::spawn(2, move || {
            struct Count(ColorCell<u32>);
            impl Drop for Count {
                fn drop(&mut self) {
                    self.0.post(|n| *n += 1);
                }
            }
            let _count = Count(ours);
            for _ in 0..10 {
                stackful::sleep(colored::time::Duration::from_millis(1));
                stackful::yield_now();
            }
        });
        let seconds = colored::time::Duration::from_micros(500 * (sim::random() % 30));
        colored::time::sleep(seconds).await;
        task.abort();
        let begun = !task.await.is_err_and(|error| error.is_panic());
        sim::always!(begun, "no panic");
        sim::always!(cell.call(|n| *n).await <= 1, "it is unwound once");
    });
    assert!(report.failure().is_none(), "{report}");
}
