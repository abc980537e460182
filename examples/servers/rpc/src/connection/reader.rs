//! The task that reads: calls go to their handlers, replies to their callers.

use super::Client;
use super::state::State;
use super::writer::Outgoing;
use crate::answer::{Answer, Way};
use crate::caller::{self, Caller, Identity};
use crate::error::{Refusal, RpcError};
use crate::message::{Call, Message};
use crate::mistake::Mistake;
use crate::record::Records;
use crate::table::Services;
use colored::ColorCell;
use colored::io::AsyncRead;
use colored::sync::mpsc::UnboundedSender;
use colored::sync::{OwnedSemaphorePermit, Semaphore};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Where messages go that have come.
pub(super) struct Reader {
    pub(super) state: ColorCell<State>,
    pub(super) queue: UnboundedSender<Outgoing>,
    /// One for each call that may be in progress.
    pub(super) slots: Arc<Semaphore>,
    /// One for each refusal that may wait to be written.
    pub(super) refusals: Arc<Semaphore>,
    /// The handle keeps the connection open.
    pub(super) serving: Option<(Services, Client)>,
    pub(super) peer: Option<SocketAddr>,
    pub(super) identity: Option<Identity>,
}

impl Reader {
    /// Reads until the stream or the connection ends.
    pub(super) async fn run<S: AsyncRead + Unpin>(self, mut records: Records<S>) {
        let why = loop {
            match records.next().await {
                Ok(Some(record)) => match self.handle(record).await {
                    Ok(()) => {}
                    Err(error) => break RpcError::Io(Arc::new(error)),
                },
                Ok(None) => break RpcError::Closed,
                Err(error) => break RpcError::Io(Arc::new(error)),
            }
        };
        let mistake = self.serving.as_ref().and_then(|(services, _)| services.mistake);
        if mistake == Some(Mistake::KeepsBrokenConnections) && matches!(why, RpcError::Io(_)) {
            return;
        }
        self.state.with(|state| state.end(why));
    }

    async fn handle(&self, record: &mut Vec<u8>) -> io::Result<()> {
        match Message::parse(record) {
            None => Err(io::Error::new(io::ErrorKind::InvalidData, "no RPC message")),
            Some(Message::Reply { xid, result }) => {
                let result = result.map(|result| record.len() - result.len());
                let reply = || result.map(|start| (std::mem::take(record), start));
                self.state.with(|state| state.complete(xid, reply));
                Ok(())
            }
            Some(Message::Call { xid, call }) => self.execute(xid, call).await,
        }
    }

    async fn execute(&self, xid: u32, call: Result<Call<'_>, Refusal>) -> io::Result<()> {
        let slot = take_slot(&self.slots, &self.state).await;
        let is_full = slot.is_none();
        let slot = match slot {
            Some(slot) => slot,
            None => self.take_refusal()?,
        };
        let answer = Answer::new(xid, Way::Stream { queue: self.queue.clone(), slot });
        match (call, &self.serving) {
            (Err(refusal), _) => answer.refuse(refusal),
            (Ok(_), _) if is_full => answer.refuse(Refusal::SystemError),
            (Ok(_), None) => answer.refuse(Refusal::ProgramUnavailable),
            (Ok(mut call), Some((services, client))) => {
                let caller = self.caller(client, &mut call);
                services.dispatch(&call, caller, answer);
            }
        }
        Ok(())
    }

    /// A place for a refusal that is to be written.
    fn take_refusal(&self) -> io::Result<OwnedSemaphorePermit> {
        let slot = Arc::clone(&self.refusals).try_acquire_owned();
        slot.map_err(|_| io::Error::other("the other side calls, and does not read the replies"))
    }

    fn caller(&self, client: &Client, call: &mut Call<'_>) -> Caller {
        Caller {
            peer: self.peer,
            auth: std::mem::take(&mut call.auth),
            identity: self.identity.clone(),
            way: caller::Way::Stream(client.clone()),
        }
    }
}

/// Waits for room for a call. `None` if own calls are pending, whose replies are behind this call.
async fn take_slot(
    slots: &Arc<Semaphore>,
    state: &ColorCell<State>,
) -> Option<OwnedSemaphorePermit> {
    if let Ok(slot) = Arc::clone(slots).try_acquire_owned() {
        return Some(slot);
    }
    let begun = state.with(|state| state.begun());
    while !state.with(|state| state.has_pending()) {
        colored::select! {
            slot = Arc::clone(slots).acquire_owned() => return slot.ok(),
            () = begun.notified() => {}
        }
    }
    None
}
