//! The state of a connection, under its color: the calls that wait for their replies.

use super::writer::Outgoing;
use crate::error::RpcError;
use crate::message::set_xid;
use crate::record::HEADER;
use colored::sync::mpsc::UnboundedSender;
use colored::sync::{Notify, OwnedSemaphorePermit, oneshot, watch};
use colored::task::AbortHandle;
use std::collections::HashMap;
use std::sync::Arc;

/// A reply: the record, and where the result begins in it.
pub(super) type Reply = Result<(Vec<u8>, usize), RpcError>;

pub(super) struct State {
    next_xid: u32,
    pending: HashMap<u32, Waiting>,
    /// `None` when the connection has ended.
    queue: Option<UnboundedSender<Outgoing>>,
    end: watch::Sender<Option<RpcError>>,
    reader: Option<AbortHandle>,
    /// Notified when a call begins.
    begun: Arc<Notify>,
}

/// A call that waits for its reply, with its place in the window.
struct Waiting(oneshot::Sender<Reply>, #[expect(dead_code, reason = "held")] OwnedSemaphorePermit);

impl State {
    pub(super) fn new(
        queue: UnboundedSender<Outgoing>,
        end: watch::Sender<Option<RpcError>>,
    ) -> Self {
        let begun = Arc::new(Notify::new());
        Self { next_xid: 1, pending: HashMap::new(), queue: Some(queue), end, reader: None, begun }
    }

    /// Sends a call, and returns its number.
    pub(super) fn begin(
        &mut self,
        mut record: Vec<u8>,
        reply: oneshot::Sender<Reply>,
        permit: OwnedSemaphorePermit,
    ) -> Result<u32, RpcError> {
        let queue = self.queue.as_ref().ok_or_else(|| self.why_ended())?;
        let xid = self.next_xid;
        self.next_xid = xid.wrapping_add(1);
        set_xid(&mut record, HEADER, xid);
        queue.send(Outgoing { record, slot: None }).map_err(|_| RpcError::Closed)?;
        self.pending.insert(xid, Waiting(reply, permit));
        self.begun.notify_one();
        Ok(xid)
    }

    /// The caller no longer waits.
    pub(super) fn forget(&mut self, xid: u32) {
        self.pending.remove(&xid);
    }

    /// A reply has come, maybe to a call that is forgotten.
    pub(super) fn complete(&mut self, xid: u32, reply: impl FnOnce() -> Reply) {
        if let Some(Waiting(caller, _)) = self.pending.remove(&xid) {
            // If it fails, the caller no longer waits.
            let _ = caller.send(reply());
        }
    }

    /// Whether own calls wait for their replies.
    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Notified when an own call begins.
    pub(super) fn begun(&self) -> Arc<Notify> {
        Arc::clone(&self.begun)
    }

    pub(super) fn set_reader(&mut self, reader: AbortHandle) {
        if self.queue.is_some() {
            self.reader = Some(reader);
        } else {
            reader.abort();
        }
    }

    /// Ends the connection, unless it has ended: no more calls begin, none is read. The writer ends when all calls in
    /// progress have been answered.
    pub(super) fn end(&mut self, why: RpcError) {
        if self.queue.take().is_none() {
            return;
        }
        for (_, Waiting(caller, _)) in self.pending.drain() {
            let _ = caller.send(Err(why.clone()));
        }
        self.end.send_replace(Some(why));
        if let Some(reader) = self.reader.take() {
            reader.abort();
        }
    }

    fn why_ended(&self) -> RpcError {
        self.end.borrow().clone().unwrap_or(RpcError::Closed)
    }
}
