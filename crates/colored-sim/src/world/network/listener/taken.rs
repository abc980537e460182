//! Who keeps others from an address.

use super::super::Network;
use super::super::address::Bound;
use super::super::end::{End, Names, Phase};
use colored_machine::BindOptions;
use std::net::SocketAddr;

impl Network<'_> {
    /// Whether a socket of this host has the address, and does not permit another one that is like this.
    pub(super) fn is_taken(&self, host: usize, bound: Bound, sharing: BindOptions) -> bool {
        self.is_taken_by_socket(host, bound, sharing)
            || self.ends.iter().filter(|end| end.host == host).any(|end| {
                let addr = self.local_of(end);
                let is_same =
                    addr.is_some_and(|addr| Bound { addr, only_v6: false }.collides(bound));
                is_same && !(sharing.reuses && end.reuses)
            })
    }

    /// As [`is_taken`](Self::is_taken), by a socket that is no connection.
    pub(super) fn is_taken_by_socket(
        &self,
        host: usize,
        bound: Bound,
        sharing: BindOptions,
    ) -> bool {
        self.listeners.iter().any(|of| {
            let both_share = sharing.shares && of.sharing.shares;
            let both_reuse = sharing.reuses && of.sharing.reuses && !of.listens;
            of.inet(host).is_some_and(|other| other.collides(bound)) && !both_share && !both_reuse
        })
    }

    /// The internet address that an end of a connection keeps others from.
    fn local_of(&self, end: &End) -> Option<SocketAddr> {
        let lingers = end.lingers_until > self.world.now();
        let is_here = end.phase == Phase::Open && (!end.is_over() || end.has_ended_first);
        match end.names {
            Names::Inet { local, .. } if is_here || lingers => {
                self.is_of_this_boot(end.host, end.boots).then_some(local)
            }
            _ => None,
        }
    }
}
