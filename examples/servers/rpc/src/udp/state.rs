//! The state of an endpoint, under its color: own calls that wait, and the replies to others' calls.

use super::cache::{Generation, Key, Known, ReplyCache};
use super::{UdpCounts, UdpOptions};
use crate::error::RpcError;
use crate::mistake::Mistake;
use crate::table::Services;
use colored::sync::oneshot;
use colored::time::Instant;
use fastrand::Rng;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

/// The bytes of a result.
type Reply = Result<Vec<u8>, RpcError>;

pub(super) struct State {
    random: Rng,
    next_xid: u32,
    /// `None` when the endpoint is closed.
    pending: Option<HashMap<u32, (SocketAddr, oneshot::Sender<Reply>)>>,
    services: Option<Services>,
    cache: ReplyCache,
    most_in_progress: usize,
    pub(super) counts: UdpCounts,
}

impl State {
    pub(super) fn new(options: UdpOptions) -> Self {
        let mut random = Rng::with_seed(options.seed);
        Self {
            next_xid: random.u32(..),
            random,
            pending: Some(HashMap::new()),
            services: None,
            cache: ReplyCache::new(options.cache_bytes, options.cache_age),
            most_in_progress: options.in_progress,
            counts: UdpCounts::default(),
        }
    }

    pub(super) fn serve(&mut self, services: Services) {
        if self.pending.is_some() {
            self.services = Some(services);
        }
    }

    /// An own call begins: its number, and a seed for its pauses.
    pub(super) fn begin(
        &mut self,
        to: SocketAddr,
        reply: oneshot::Sender<Reply>,
    ) -> Result<(u32, u64), RpcError> {
        let pending = self.pending.as_mut().ok_or(RpcError::Closed)?;
        while pending.contains_key(&self.next_xid) {
            self.next_xid = self.next_xid.wrapping_add(1);
        }
        let xid = self.next_xid;
        self.next_xid = xid.wrapping_add(1);
        pending.insert(xid, (to, reply));
        Ok((xid, self.random.u64(..)))
    }

    /// A datagram has come that is no message. Returns whether the endpoint is to be closed: a mistake.
    pub(super) fn note_garbage(&mut self) -> bool {
        self.counts.garbage += 1;
        let mistake = self.services.as_ref().and_then(|services| services.mistake);
        mistake == Some(Mistake::ClosesOnGarbage)
    }

    /// The caller no longer waits.
    pub(super) fn forget(&mut self, xid: u32) {
        if let Some(pending) = &mut self.pending {
            pending.remove(&xid);
        }
    }

    /// A reply has come.
    pub(super) fn complete(&mut self, from: SocketAddr, xid: u32, result: Result<&[u8], RpcError>) {
        let Some(pending) = &mut self.pending else { return };
        if pending.get(&xid).is_none_or(|(to, _)| *to != from) {
            self.counts.late += 1;
        } else if let Some((_, caller)) = pending.remove(&xid) {
            // If it fails, the caller no longer waits.
            let _ = caller.send(result.map(<[u8]>::to_vec));
        }
    }

    /// A call has come: what it is, and the services for it if it comes for the first time. `None` if it is dropped.
    pub(super) fn admit(&mut self, key: Key, call: &[u8]) -> Option<(Known, &Services)> {
        let is_full = self.cache.in_progress() >= self.most_in_progress;
        let Some(services) = self.services.as_ref().filter(|_| !is_full) else {
            self.counts.dropped += 1;
            return None;
        };
        let known = self.cache.begin(key, call, Instant::now());
        match known {
            Known::No(_) => self.counts.calls += 1,
            Known::InProgress => self.counts.in_progress += 1,
            Known::Done(_) => self.counts.repeated += 1,
        }
        Some((known, services))
    }

    /// A call has its reply.
    pub(super) fn finish(&mut self, key: Key, generation: Generation, reply: Arc<[u8]>) {
        self.cache.finish(key, generation, reply, Instant::now());
    }

    pub(super) fn counts(&self) -> UdpCounts {
        UdpCounts { cached_bytes: self.cache.bytes(), ..self.counts }
    }

    pub(super) fn close(&mut self) {
        // The callers fail as their senders are dropped.
        self.pending = None;
        self.services = None;
    }
}
