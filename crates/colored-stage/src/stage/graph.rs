//! [`Graph`]: stages that are drained in order.

use super::Stage;
use super::metrics::Metrics;
use super::shared::Shared;
use colored_core::port::Finish;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// Stages that send to each other. A graph drains them in order, senders before receivers, so that
/// every accepted event is handled.
///
/// Add each stage after the stages that it sends to, which is the order in which they can be built. In
/// another order events reach a closed stage: the senders get them back, and [`Metrics::refused`]
/// counts them. A graph does not keep its stages open. Dropping a graph drains nothing; the runtime
/// drains the stages at its end.
#[derive(Default)]
pub struct Graph {
    nodes: Vec<(String, Arc<dyn Node>)>,
}

trait Node: Finish {
    fn metrics(&self) -> Metrics;
}

impl<E: Send> Finish for Shared<E> {
    fn close(&self) {
        Shared::close(self);
    }

    fn drained(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(Shared::drained(self))
    }

    fn left(&self) -> u64 {
        Shared::metrics(self).depth()
    }
}

impl<E: Send> Node for Shared<E> {
    fn metrics(&self) -> Metrics {
        Shared::metrics(self)
    }
}

impl Graph {
    /// A graph with no stages.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a stage, after the stages that it sends to, and returns it.
    pub fn add<E: Send + 'static>(&mut self, name: impl Into<String>, stage: Stage<E>) -> Stage<E> {
        let node: Arc<dyn Node> = Arc::clone(stage.shared()) as _;
        self.nodes.push((name.into(), node));
        stage
    }

    /// Closes and drains one stage after another, the last one added first, and returns their metrics,
    /// in the order in which they were added. When it returns, every event that a stage accepted has
    /// been handled, or lost by a panic of its handler.
    ///
    /// If stages send in a circle, an event that comes back to a closed stage is given back to its
    /// sender. Not cancel safe: if the future is dropped before it is ready, the stages that it has not closed yet stay
    /// open.
    pub async fn drain(self) -> Vec<(String, Metrics)> {
        for (_, node) in self.nodes.iter().rev() {
            node.close();
            node.drained().await;
        }
        self.nodes.into_iter().map(|(name, node)| (name, node.metrics())).collect()
    }

    /// The names and the metrics of the stages, in the order in which they were added.
    pub fn metrics(&self) -> impl Iterator<Item = (&str, Metrics)> {
        self.nodes.iter().map(|(name, node)| (name.as_str(), node.metrics()))
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.metrics()).finish()
    }
}
