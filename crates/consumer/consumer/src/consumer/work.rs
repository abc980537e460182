//! The user's handler: of one record, or of a batch of a key.

use super::context::Context;
use super::failure::Failure;
use super::kept::Kept;
use crate::source::Record;

/// Handles records of a key.
pub(crate) trait Work: Send + Sync + 'static {
    type Future: Future<Output = Result<(), Failure>> + Send + 'static;

    /// Whether a call takes all records at once.
    const IS_BATCH: bool;

    fn call(&self, records: &[Kept], context: Context) -> Self::Future;
}

/// A call for each record.
pub(crate) struct Each<F>(pub(crate) F);

impl<F, Fut> Work for Each<F>
where
    F: Fn(Record, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), Failure>> + Send + 'static,
{
    type Future = Fut;
    const IS_BATCH: bool = false;

    fn call(&self, records: &[Kept], context: Context) -> Fut {
        (self.0)(context.claim.record(&records[0]), context)
    }
}

/// A call for several records.
pub(crate) struct Batch<F>(pub(crate) F);

impl<F, Fut> Work for Batch<F>
where
    F: Fn(Vec<Record>, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), Failure>> + Send + 'static,
{
    type Future = Fut;
    const IS_BATCH: bool = true;

    fn call(&self, records: &[Kept], context: Context) -> Fut {
        (self.0)(records.iter().map(|of| context.claim.record(of)).collect(), context)
    }
}
