//! A [`ColorCell`] with a color of its own.

use super::{Call, Post, clients, produce};
use crate::executors::Executor;
use colored::{Color, ColorCell};
use colored_benches::Runtimes;

fn cell(on: Runtimes) -> &'static ColorCell<u64> {
    Box::leak(Box::new(on.handle.cell(Color::unique(), 0)))
}

async fn take(cell: &ColorCell<u64>) -> u64 {
    cell.call(std::mem::take).await
}

pub(super) fn post(on: Runtimes) -> Post {
    let (cell, on) = (cell(on), on.unique());
    Box::new(move |count| {
        Executor::run(on, async move {
            produce(on, count, || cell.post(|sum| *sum += 1)).await;
            take(cell).await
        })
    })
}

pub(super) fn call(on: Runtimes) -> Call {
    let (cell, on) = (cell(on), on.unique());
    let ask = || {
        cell.call(|sum| {
            *sum += 1;
            *sum
        })
    };
    Box::new(move |count, each| {
        Executor::run(on, async move {
            clients(on, count, each, ask).await;
            take(cell).await
        })
    })
}
