//! Single operations, one after another, for the page of costs.

use super::{Plan, Report};
use colored::net::UdpSocket;
use colored::sync::Notify;
use colored::task::{JoinSet, spawn_here};
use colored::{Color, ColorCell, Limit, exclusive, hop, spawn_colored};
use colored_benches::chart::number;
use colored_benches::measure::{Entry, Sample};
use colored_benches::placement::stay_on;
use colored_benches::rivals::{Rival, Serial};
use std::cell::Cell;
use std::future::ready;
use std::hint::black_box;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

const RED: u64 = 3_200_000;
const BLUE: u64 = 3_200_001;

colored::color_local! {
    static COUNT: Cell<u64> = Cell::new(0);
}

/// One operation, and the counterpart that tokio's current-thread runtime has, if it has one.
struct Row {
    name: &'static str,
    own: Box<dyn FnMut() -> Sample>,
    peer: Option<Box<dyn FnMut() -> Sample>>,
}

/// Measures each operation in a loop, on one worker.
///
/// # Panics
///
/// If an operation fails.
#[must_use]
pub fn run(plan: &Plan) -> Report {
    let mut report = Report::new(plan);
    let on = Serial::start(colored::Runtime::builder().workers(1));
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let tokio: &'static _ = Box::leak(Box::new(tokio.expect("tokio starts")));
    let mut lines = Vec::new();
    for row in rows(on, tokio, plan.pick(20_000, 5_000, 100)) {
        let mut entries = vec![Entry::subject(row.own)];
        entries.extend(row.peer.map(|peer| Entry::peer("tokio", peer)));
        let outcomes = plan.alternate(Duration::from_millis(500), entries);
        let own = outcomes[0].cost * 1e9;
        let peer = outcomes.get(1).map(|outcome| outcome.cost * 1e9);
        if let Some(peer) = peer {
            report.ratio(&format!("operation {}", row.name), own, "tokio", peer, "ns");
        }
        lines.push(vec![row.name.to_owned(), number(own), peer.map_or(String::new(), number)]);
    }
    report.text("Nanoseconds an operation, on one worker, and on tokio's current-thread runtime:");
    report.table(&["operation", "colored", "tokio"], &lines);
    let turns = plan.pick(20_000, 5_000, 100);
    let switches = plan.alternate(Duration::from_millis(500), vec![Entry::subject(threads(turns))]);
    report.text(&format!(
        "Two threads by turns on one core, by a `Condvar`: {} ns there and back.",
        number(switches[0].cost * 1e9)
    ));
    report
}

fn rows(on: Serial, tokio: &'static tokio::runtime::Runtime, count: u64) -> Vec<Row> {
    let cell: &'static ColorCell<u64> = Box::leak(Box::new(on.handle().cell(Color::DEFAULT, 0)));
    let limited: &'static _ =
        Box::leak(Box::new(on.run(async { Limit::new(BLUE, 64).cell(0_u64) })));
    let own = |name, once: Box<dyn FnMut() -> Sample>| Row { name, own: once, peer: None };
    vec![
        own(
            "`hop` to an idle color and back, each",
            ours(on, 2 * count, move || async move {
                for _ in 0..count {
                    hop(RED).await;
                    hop(Color::DEFAULT).await;
                }
            }),
        ),
        own(
            "`exclusive` around nothing",
            ours(on, count, move || async move {
                for _ in 0..count {
                    exclusive(async {}).await;
                }
            }),
        ),
        own(
            "`ColorCell::with`",
            ours(on, count, move || async move {
                for _ in 0..count {
                    cell.with(|value| *value += 1);
                }
            }),
        ),
        own(
            "a value of `color_local!`",
            ours(on, count, move || async move {
                for _ in 0..count {
                    COUNT.with(|value| value.set(value.get() + 1));
                }
            }),
        ),
        own(
            "`Color::current`",
            ours(on, count, move || async move {
                for _ in 0..count {
                    black_box(Color::current());
                }
            }),
        ),
        Row {
            name: "`Handle::current`, and its drop",
            own: ours(on, count, move || async move {
                for _ in 0..count {
                    black_box(colored::Handle::current());
                }
            }),
            peer: Some(theirs(tokio, count, move || async move {
                for _ in 0..count {
                    black_box(tokio::runtime::Handle::current());
                }
            })),
        },
        Row {
            name: "two tasks by turns, by `Notify`: there and back",
            own: ours(on, count, move || async move {
                let [ping, pong] = [(); 2].map(|()| Arc::new(Notify::new()));
                let other = spawn_here(take_turns(ping.clone(), pong.clone(), count));
                give_turns(ping, pong, count).await;
                other.await.expect("it ends");
            }),
            peer: Some(theirs(tokio, count, move || async move {
                let [ping, pong] = [(); 2].map(|()| Arc::new(Notify::new()));
                let other = tokio::spawn(take_turns(ping.clone(), pong.clone(), count));
                give_turns(ping, pong, count).await;
                other.await.expect("it ends");
            })),
        },
        own(
            "`LimitedCell::call`, idle color",
            ours(on, count, move || async move {
                for _ in 0..count {
                    limited.call(|value| *value += 1).await.expect("it is open");
                }
            }),
        ),
        own(
            "`spawn_here`, its handle awaited",
            ours(on, count, move || async move {
                for _ in 0..count {
                    spawn_here(async {}).await.expect("it ends");
                }
            }),
        ),
        own(
            "`spawn_colored` to an idle color, its handle awaited",
            ours(on, count, move || async move {
                for _ in 0..count {
                    spawn_colored(RED, async {}).await.expect("it ends");
                }
            }),
        ),
        Row {
            name: "a `timeout` of what is ready",
            own: ours(on, count, move || async move {
                for _ in 0..count {
                    let limited = colored::time::timeout(Duration::from_secs(1), ready(()));
                    limited.await.expect("it is ready");
                }
            }),
            peer: Some(theirs(tokio, count, move || async move {
                for _ in 0..count {
                    let limited = tokio::time::timeout(Duration::from_secs(1), ready(()));
                    limited.await.expect("it is ready");
                }
            })),
        },
        Row {
            name: "`JoinSet`: spawn and `join_next`, 100 at a time; tokio's",
            own: ours(on, count / 100 * 100, move || async move {
                for _ in 0..count / 100 {
                    let mut set = JoinSet::new();
                    (0..100).for_each(|_| drop(set.spawn(async {})));
                    while let Some(output) = set.join_next().await {
                        output.expect("it ends");
                    }
                }
            }),
            peer: Some(theirs(tokio, count / 100 * 100, move || async move {
                for _ in 0..count / 100 {
                    let mut set = tokio::task::JoinSet::new();
                    (0..100).for_each(|_| drop(set.spawn(async {})));
                    while let Some(output) = set.join_next().await {
                        output.expect("it ends");
                    }
                }
            })),
        },
        Row {
            name: "a datagram of 100 bytes over UDP, sent and received",
            own: ours(on, count, move || async move {
                let one = UdpSocket::bind("127.0.0.1:0").await.expect("it binds");
                let other = UdpSocket::bind("127.0.0.1:0").await.expect("it binds");
                one.connect(other.local_addr().expect("bound")).await.expect("it connects");
                let mut buffer = [0; 100];
                for _ in 0..count {
                    one.send(&[1; 100]).await.expect("it is sent");
                    assert_eq!(other.recv(&mut buffer).await.expect("it arrives"), 100);
                }
            }),
            peer: Some(theirs(tokio, count, move || async move {
                let bind = tokio::net::UdpSocket::bind;
                let (one, other) = (bind("127.0.0.1:0").await, bind("127.0.0.1:0").await);
                let (one, other) = (one.expect("it binds"), other.expect("it binds"));
                one.connect(other.local_addr().expect("bound")).await.expect("it connects");
                let mut buffer = [0; 100];
                for _ in 0..count {
                    one.send(&[1; 100]).await.expect("it is sent");
                    assert_eq!(other.recv(&mut buffer).await.expect("it arrives"), 100);
                }
            })),
        },
    ]
}

pub(super) async fn give_turns(ping: Arc<Notify>, pong: Arc<Notify>, turns: u64) {
    for _ in 0..turns {
        ping.notify_one();
        pong.notified().await;
    }
}

pub(super) async fn take_turns(ping: Arc<Notify>, pong: Arc<Notify>, turns: u64) {
    for _ in 0..turns {
        ping.notified().await;
        pong.notify_one();
    }
}

/// Two threads by turns, on one core.
pub(super) fn threads(turns: u64) -> impl FnMut() -> Sample {
    // Whether it is the second one's turn.
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let take = move |pair: &(Mutex<bool>, Condvar), own: bool| {
        stay_on(0);
        for _ in 0..turns {
            let turn = pair.0.lock().expect("no thread panics");
            let mut turn =
                pair.1.wait_while(turn, |turn| *turn != own).expect("nor while it waits");
            *turn = !own;
            pair.1.notify_one();
        }
    };
    move || {
        Sample::time(turns, || {
            thread::scope(|scope| {
                let pair = &*pair;
                for own in [false, true] {
                    scope.spawn(move || take(pair, own));
                }
            });
        })
    }
}

fn ours<C, F>(on: Serial, ops: u64, work: C) -> Box<dyn FnMut() -> Sample>
where
    C: Fn() -> F + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    Box::new(move || Sample::time(ops, || on.run(work())))
}

fn theirs<C, F>(
    on: &'static tokio::runtime::Runtime,
    ops: u64,
    work: C,
) -> Box<dyn FnMut() -> Sample>
where
    C: Fn() -> F + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    Box::new(move || Sample::time(ops, || on.block_on(work())))
}
