//! One counter that is told to add, by two producers, and asked for its sum, by clients: as a cell,
//! as a task with a channel, and in each actor library.
//!
//! Every mailbox is unbounded, as posting is.

mod of_actix;
mod of_kameo;
mod of_ractor;
mod of_tokio;
mod ours;

use crate::executors::Executor;
use crate::setup::Setup;

/// Sends this many messages, and returns how many have arrived.
pub(crate) type Post = Box<dyn FnMut(u64) -> u64>;

/// Lets this many clients ask this many times each, one after another; returns how many questions
/// have arrived.
pub(crate) type Call = Box<dyn FnMut(u64, u64) -> u64>;

/// The names of all, ours first.
pub(crate) const NAMES: [&str; 5] = ["colored", "tokio", "actix", "kameo", "ractor"];

/// Messages of a sample.
pub(crate) const POSTS: u64 = 400_000;

/// Messages after which a producer lets others run.
const BATCH: u64 = 128;

/// The counter by this name, told to add.
pub(crate) fn post(setup: &Setup, name: &str) -> Option<Post> {
    let on = setup.runtimes();
    Some(match name {
        "colored" => ours::post(on),
        "tokio" => of_tokio::post(on.tokio()),
        "actix" => of_actix::post(),
        "kameo" => of_kameo::post(on.tokio()),
        "ractor" => of_ractor::post(on.tokio()),
        _ => return None,
    })
}

/// The counter by this name, asked to add and to tell the sum.
pub(crate) fn call(setup: &Setup, name: &str) -> Option<Call> {
    let on = setup.runtimes();
    Some(match name {
        "colored" => ours::call(on),
        "tokio" => of_tokio::call(on.tokio()),
        "actix" => of_actix::call(),
        "kameo" => of_kameo::call(on.tokio()),
        "ractor" => of_ractor::call(on.tokio()),
        _ => return None,
    })
}

/// The two producers, as tasks.
async fn produce<E: Executor>(on: E, count: u64, send: impl Fn() + Clone + Send + 'static) {
    let half = |count: u64| {
        let send = send.clone();
        on.spawn(async move {
            for sent in 1..=count {
                send();
                if sent % BATCH == 0 {
                    on.yield_now().await;
                }
            }
        })
    };
    let both = [half(count / 2), half(count - count / 2)];
    for producer in both {
        producer.await;
    }
}

/// The clients, as tasks. `ask` gives the sum.
async fn clients<E, A, F>(on: E, clients: u64, each: u64, ask: A)
where
    E: Executor,
    A: Fn() -> F + Clone + Send + 'static,
    F: Future<Output = u64> + Send + 'static,
{
    let client = |_| {
        let ask = ask.clone();
        on.spawn(one_client(each, ask))
    };
    let all: Vec<_> = (0..clients).map(client).collect();
    for client in all {
        client.await;
    }
}

async fn one_client<F: Future<Output = u64>>(each: u64, ask: impl Fn() -> F) {
    let mut last = 0;
    for _ in 0..each {
        let sum = ask().await;
        assert!(sum > last, "{sum} after {last}");
        last = sum;
    }
}
