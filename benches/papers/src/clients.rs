//! Clients in closed loops: each has one operation under way at any time. With as many clients as
//! operations, a task for each.

use colored_benches::latch::Latch;
use colored_benches::rivals::Rival;
use std::future::Future;
use std::ops::Range;

/// Clients at once, more than any machine's workers here: enough to keep all busy.
pub(super) const CLIENTS: usize = 64;

/// Operations after which a client that never waits lets others run: tokio's budget.
pub(super) const BUDGET: usize = 128;

/// Runs `client` as tasks, each with its share of `0..ops`, and waits for all.
pub(super) fn closed_loop<R, C, F>(
    on: R,
    latch: &'static Latch,
    clients: usize,
    ops: usize,
    client: C,
) where
    R: Rival,
    C: Fn(Range<usize>) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    on.run(async move {
        latch.expect(clients);
        for share in shares(clients, ops) {
            let work = client(share);
            drop(on.spawn(async move {
                work.await;
                latch.hit();
            }));
        }
        latch.wait().await;
    });
}

/// Splits `0..ops` into parts whose lengths differ by at most one.
fn shares(clients: usize, ops: usize) -> impl Iterator<Item = Range<usize>> + Send {
    let cut = move |index: usize| ops * index / clients;
    (0..clients).map(move |index| cut(index)..cut(index + 1))
}

#[cfg(test)]
mod tests {
    use super::shares;

    #[test]
    fn shares_cover_all_operations_once() {
        for clients in [1, 64, 1_000] {
            let all: Vec<usize> = shares(clients, 1_000).flatten().collect();
            assert_eq!(all, (0..1_000).collect::<Vec<_>>());
        }
    }
}
