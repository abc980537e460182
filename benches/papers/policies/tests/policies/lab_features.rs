//! The features that are built on colors, and G9 to G12, under every policy of the papers.

use colored::limit::TrySpawnError;
use colored::stage::{Batch, Builder, Events, Graph, each};
use colored::sync::oneshot::{self, Receiver, Sender};
use colored::time::{Instant, sleep};
use colored::{
    CallError, Color, ColorCell, Limit, exclusive, spawn_colored, spawn_here, spawn_unique, when,
    yield_now,
};
use colored_tests::attempts::within;
use colored_tests::choice::{Choice, of_all, of_all_alone};
use colored_tests::gate::Gate;
use colored_tests::keeper::Keeper;
use colored_tests::{Dice, ON_PURPOSE, Trace, block, echo};
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

const RED: u64 = 1;
const BLUE: u64 = 2;

const ACCOUNTS: u64 = 6;
const START: i64 = 100;

/// Moves money, and looks at two accounts in between.
async fn transfers(client: u64, accounts: Vec<ColorCell<i64>>) {
    let mut dice = Dice::new(client + 1);
    for _ in 0..20 {
        let from = dice.below(ACCOUNTS);
        let to = (from + 1 + dice.below(ACCOUNTS - 1)) % ACCOUNTS;
        let [from, to] = [from, to].map(|index| &accounts[index as usize]);
        when((from, to), |from, to| {
            *from -= 1;
            *to += 1;
        })
        .await;
        when((from.shared(), to), |from, to| *to = black_box(*from + *to) - *from).await;
    }
}

#[test]
fn when_makes_and_loses_no_money() {
    of_all(|choice| {
        choice.runtime(3).run(async {
            let account = |index| ColorCell::new(Color::new(100 + index), START);
            let accounts: Vec<_> = (0..ACCOUNTS).map(account).collect();
            let client = |number| spawn_unique(transfers(number, accounts.clone()));
            let clients: Vec<_> = (0..12).map(client).collect();
            for client in clients {
                let total = when(&accounts, |all| all.iter().sum::<i64>()).await;
                assert_eq!(total, START * ACCOUNTS as i64);
                client.await.unwrap();
            }
            let total = when(&accounts, |all| all.iter().sum::<i64>()).await;
            assert_eq!(total, START * ACCOUNTS as i64);
        });
    });
}

/// Sets of cells that overlap run in the order in which they were scheduled.
#[test]
fn when_keeps_its_order_behind_a_held_color() {
    of_all(|choice| {
        let order = choice.runtime(3).run(async {
            let keeper = Keeper::of(RED).await;
            let [red, blue] = [RED, BLUE].map(|color| ColorCell::new(Color::new(color), ()));
            let trace = Trace::new();
            let mut waits = Vec::new();
            for number in 0..20 {
                let (trace, red, blue) = (trace.clone(), red.clone(), blue.clone());
                let mut wait = Box::pin(async move {
                    let note = move |_: &mut (), _: &mut ()| trace.push(number);
                    if number % 2 == 0 {
                        when((&red, &blue), note).await;
                    } else {
                        when((&blue, &red), note).await;
                    }
                });
                let first =
                    std::future::poll_fn(|cx| std::task::Poll::Ready(wait.as_mut().poll(cx)));
                assert!(first.await.is_pending());
                waits.push(wait);
            }
            keeper.release().await;
            for wait in waits {
                wait.await;
            }
            trace.take()
        });
        assert_eq!(order, (0..20).collect::<Vec<_>>());
    });
}

#[test]
fn readers_run_beside_each_other_and_never_beside_a_writer() {
    of_all(|choice| {
        let runtime = choice.runtime(3);
        let pair = runtime.handle().cell(Color::new(RED), [const { AtomicU64::new(0) }; 2]);
        let user = |_| {
            let pair = pair.clone();
            runtime.handle().spawn_unique(async move {
                for _ in 0..20 {
                    let add = |one: &AtomicU64| one.store(value(one) + 1, Ordering::Relaxed);
                    pair.call(move |pair| pair.iter().for_each(add)).await;
                    let [first, second] = pair.read(|pair| pair.each_ref().map(value)).await;
                    assert_eq!(first, second, "a reader was beside a writer");
                }
            })
        };
        for user in (0..8).map(user).collect::<Vec<_>>() {
            runtime.run(user).unwrap();
        }
        let ours = pair.clone();
        assert_eq!(runtime.run(async move { ours.read(|pair| value(&pair[1])).await }), 160);
        if choice.conserves_work() {
            // Ends only if both are inside at once.
            let meeting = Arc::new(Barrier::new(2));
            let readers = [(); 2].map(|()| {
                let (pair, meeting) = (pair.clone(), Arc::clone(&meeting));
                let look = move |_: &[AtomicU64; 2]| {
                    meeting.wait();
                };
                runtime.handle().spawn_unique(async move { pair.read(look).await })
            });
            for reader in readers {
                runtime.run(reader).unwrap();
            }
        }
    });
}

fn value(one: &AtomicU64) -> u64 {
    one.load(Ordering::Relaxed)
}

#[test]
fn a_section_keeps_its_color_across_awaits() {
    of_all(|choice| {
        let log = choice.runtime(3).run(async {
            let log = ColorCell::new(Color::new(RED), Vec::new());
            let section = |number| {
                let log = log.clone();
                spawn_colored(RED, async move {
                    log.exclusive(async |log| {
                        for step in 0..4 {
                            log.push(number);
                            if step == number % 4 {
                                sleep(Duration::from_micros(50)).await;
                            }
                            yield_now().await;
                        }
                    })
                    .await;
                })
            };
            for section in (0..12).map(section).collect::<Vec<_>>() {
                section.await.unwrap();
            }
            log.call(std::mem::take).await
        });
        let own: Vec<_> = log.chunks(4).map(|own| own[0]).collect();
        assert!(log.chunks(4).all(|own| own.iter().all(|number| *number == own[0])), "{log:?}");
        assert_eq!(own, (0..12).collect::<Vec<_>>(), "sections begin in order");
    });
}

/// Holds a color, meets the task that holds the other color, and then calls a cell of that color.
/// Returns the error, if there is one.
async fn cross(
    other: ColorCell<u32>,
    inside: Sender<()>,
    both: Receiver<()>,
) -> Result<u32, CallError> {
    exclusive(async {
        inside.send(()).unwrap();
        both.await.unwrap();
        other.checked_call(|value| *value).await
    })
    .await
}

#[test]
fn g12_one_of_two_sections_that_wait_for_each_other_gets_the_error() {
    of_all(|choice| {
        choice.runtime(3).run(async {
            let [red, blue] = [RED, BLUE].map(|color| ColorCell::new(Color::new(color), 7));
            let ((tell_red, red_told), (tell_blue, blue_told)) =
                (oneshot::channel(), oneshot::channel());
            let tasks = [
                spawn_colored(RED, cross(blue, tell_blue, red_told)),
                spawn_colored(BLUE, cross(red, tell_red, blue_told)),
            ];
            let mut told = Vec::new();
            for task in tasks {
                match task.await.unwrap() {
                    Ok(value) => assert_eq!(value, 7),
                    Err(CallError::Deadlock(deadlock)) => told.push(deadlock.to_string()),
                    Err(error) => panic!("{error}"),
                }
            }
            assert_eq!(told.len(), 1, "{told:?}");
            assert!(told[0].contains("color 0x1") && told[0].contains("color 0x2"), "{told:?}");
        });
    });
}

#[test]
fn limits_admit_as_many_as_fit() {
    of_all(|choice| {
        choice.runtime(3).run(async {
            let limit = Limit::new(Color::new(RED), 2);
            let cell = limit.cell(0);
            let client = |_| {
                let (limit, cell) = (limit.clone(), cell.clone());
                spawn_unique(async move {
                    let count = move |value: &mut u32| {
                        assert!(limit.depth() <= 2, "{} inside", limit.depth());
                        *value += 1;
                    };
                    cell.post(count).await.unwrap();
                })
            };
            for client in (0..50).map(client).collect::<Vec<_>>() {
                client.await.unwrap();
            }
            assert_eq!(cell.call(|value| *value).await.unwrap(), 50);
            while limit.depth() > 0 {
                yield_now().await;
            }
            let keeper = Keeper::of(RED).await;
            let inside = [1, 2].map(|number| limit.try_spawn(async move { number }).unwrap());
            assert!(matches!(limit.try_spawn(async {}), Err(TrySpawnError::Full(_))));
            keeper.release().await;
            for (number, task) in [1, 2].into_iter().zip(inside) {
                assert_eq!(task.await.unwrap(), number);
            }
            limit.close();
            assert!(limit.spawn(async {}).await.is_err());
        });
    });
}

#[test]
fn stages_lose_nothing_and_keep_the_order_of_each_key() {
    of_all(|choice| {
        let seen = choice.runtime(3).run(async {
            let (mut graph, trace) = (Graph::new(), Trace::new());
            let seen = trace.clone();
            let last = Builder::new().capacity(4).build(each(move |event| seen.push(event)));
            let last = graph.add("last", last);
            let next = last.clone();
            let pass = move |events: Events<u64>| {
                let next = next.clone();
                async move {
                    for event in events {
                        next.send(event).await.unwrap();
                    }
                }
            };
            let first = Builder::new().capacity(8).parallel(3, |event: &u64| event % 5);
            let first = graph.add("first", first.batch(Batch::Adaptive { max: 16 }).build(pass));
            for event in 0..200 {
                first.send(event).await.unwrap();
            }
            graph.drain().await;
            trace.take()
        });
        for key in 0..5 {
            let own: Vec<_> = seen.iter().copied().filter(|event| event % 5 == key).collect();
            assert_eq!(own, (0..40).map(|round| 5 * round + key).collect::<Vec<_>>());
        }
        assert_eq!(seen.len(), 200);
    });
}

#[test]
fn g9_a_panic_ends_its_task_and_releases_its_colors() {
    of_all(|choice| {
        choice.runtime(3).run(async {
            let [red, blue] = [RED, BLUE].map(|color| ColorCell::new(Color::new(color), 0));
            for _ in 0..5 {
                let plain = spawn_colored(RED, async { panic!("{ON_PURPOSE}") });
                let cell = red.clone();
                let call = spawn_unique(async move { cell.call(|_| panic!("{ON_PURPOSE}")).await });
                let cells = (red.clone(), blue.clone());
                let several = spawn_unique(async move {
                    when((&cells.0, &cells.1), |_, _| panic!("{ON_PURPOSE}")).await
                });
                let section = spawn_colored(
                    BLUE,
                    exclusive(async {
                        yield_now().await;
                        panic!("{ON_PURPOSE}")
                    }),
                );
                red.post(|_| panic!("{ON_PURPOSE}"));
                for task in [plain, call, several, section] {
                    assert!(task.await.unwrap_err().is_panic());
                }
                when((&red, &blue), |red, blue| {
                    *red += 1;
                    *blue += 1;
                })
                .await;
            }
            assert_eq!((red.read(|red| *red).await, blue.read(|blue| *blue).await), (5, 5));
        });
    });
}

/// How long sockets and a timer are kept waiting at worst, while two of three workers are stuck.
fn disturbed(choice: Choice) -> Duration {
    const STUCK: Duration = Duration::from_millis(40);
    let server = choice.runtime(3);
    let mut client = Client::connect(echo::serve(server.handle()));
    client.round_trip();
    for _ in 0..2 {
        drop(server.handle().spawn_unique(async { block(STUCK) }));
    }
    let due = Instant::now() + STUCK / 2;
    let timer = server.handle().spawn_unique(async move {
        sleep(due.saturating_duration_since(Instant::now())).await;
        Instant::now().saturating_duration_since(due)
    });
    let (start, mut worst) = (Instant::now(), Duration::ZERO);
    while start.elapsed() < STUCK {
        worst = worst.max(client.round_trip());
        std::thread::sleep(Duration::from_millis(2));
    }
    worst.max(server.run(timer).unwrap())
}

/// A client in a thread of its own.
struct Client(TcpStream);

impl Client {
    fn connect(server: SocketAddr) -> Self {
        Self(TcpStream::connect(server).unwrap())
    }

    fn round_trip(&mut self) -> Duration {
        let start = Instant::now();
        self.0.write_all(&[7]).unwrap();
        self.0.read_exact(&mut [0]).unwrap();
        start.elapsed()
    }
}

/// Where G6 does not hold, lanes in a stuck worker's queue wait for it.
#[test]
fn g10_sockets_and_timers_beside_stuck_workers() {
    of_all_alone(|choice| {
        if choice.conserves_work() {
            within(Duration::from_millis(15), || disturbed(choice));
        }
    });
}

#[test]
fn g11_a_color_is_free_while_its_task_waits() {
    of_all(|choice| {
        let (runtime, trace) = (choice.runtime(3), Trace::new());
        let gate = Gate::close(runtime.handle(), RED);
        let tasks = ['a', 'b'].map(|name| {
            let trace = trace.clone();
            runtime.handle().spawn_colored(RED, async move {
                for step in 0..40 {
                    trace.push((step, name));
                    assert_eq!(Color::current(), Some(Color::new(RED)));
                    yield_now().await;
                }
                // Ends only if the color is free meanwhile.
                spawn_here(async {}).await.unwrap();
            })
        });
        gate.open();
        for task in tasks {
            runtime.run(task).unwrap();
        }
        let turns: Vec<_> = (0..40).flat_map(|step| [(step, 'a'), (step, 'b')]).collect();
        assert_eq!(trace.take(), turns);
    });
}
