//! [`concurrently`]: a bounded number of operations at a time.

use colored::spawn_unique;
use std::sync::Arc;

/// Runs an operation for each item, `at_a_time` of them at a time, and returns the results in the order of the items.
///
/// Not cancel safe: the operations go on.
///
/// # Panics
///
/// If an operation panics.
pub async fn concurrently<T, R, F, O>(
    items: impl IntoIterator<Item = T>,
    at_a_time: usize,
    operation: O,
) -> Vec<R>
where
    T: Send + 'static,
    R: Send + 'static,
    F: Future<Output = R> + Send + 'static,
    O: Fn(T) -> F + Send + Sync + 'static,
{
    let operation = Arc::new(operation);
    let mut shares: Vec<Vec<(usize, T)>> = (0..at_a_time).map(|_| Vec::new()).collect();
    for (index, item) in items.into_iter().enumerate() {
        shares[index % at_a_time].push((index, item));
    }
    let run = |share: Vec<(usize, T)>| {
        let operation = Arc::clone(&operation);
        spawn_unique(async move {
            let mut results = Vec::new();
            for (index, item) in share {
                results.push((index, operation(item).await));
            }
            results
        })
    };
    let tasks: Vec<_> = shares.into_iter().map(run).collect();
    let mut results = Vec::new();
    for task in tasks {
        results.extend(task.await.expect("the operation does not panic"));
    }
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
