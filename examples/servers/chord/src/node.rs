//! [`Node`]: one node of a process. Its state belongs to a color of its own, under which its tasks run.

use crate::contact::Contact;
use crate::error::Error;
use crate::id::Id;
use crate::lookup::{Found, look_up_from};
use crate::peers::Peers;
use crate::routing::RoutingTable;
use crate::settings::Settings;
use crate::store::Store;
use crate::{maintenance, repair};
use colored::task::AbortHandle;
use colored::{ColorCell, spawn_colored};
use std::net::SocketAddrV4;
use std::sync::Arc;

/// What a member of the ring knows and keeps.
pub(crate) struct Member {
    pub(crate) table: RoutingTable,
    pub(crate) store: Store,
    tasks: Vec<AbortHandle>,
}

impl Drop for Member {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

/// The state of a node, under the node's color. Empty if the node is no member of the ring.
pub(crate) type MemberCell = ColorCell<Option<Member>>;

/// A node of this process: a place for a [`Member`].
#[derive(Clone)]
pub(crate) struct Node {
    pub(crate) own: Contact,
    pub(crate) peers: Peers,
    pub(crate) settings: Arc<Settings>,
    /// Processes by which the node joins, and finds a part of the ring that was cut off.
    pub(crate) seeds: Arc<[SocketAddrV4]>,
    pub(crate) member: MemberCell,
}

impl Node {
    /// Uses the state, under the color of the node. None if the node is no member of the ring.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut Member) -> R) -> Option<R> {
        self.member.with(|member| member.as_mut().map(f))
    }

    /// Becomes a member with these successors. Without any, it is a ring of its own.
    pub(crate) async fn join(&self, successors: &[Contact]) {
        let table = RoutingTable::new(self.own, successors);
        let node = self.clone();
        let join = move |member: &mut Option<Member>| {
            let store = Store::new(node.settings.capacity, node.settings.mistake);
            *member = Some(Member { table, store, tasks: node.spawn_tasks() });
        };
        self.member.call(join).await;
    }

    fn spawn_tasks(&self) -> Vec<AbortHandle> {
        let color = self.member.color();
        let stabilize = spawn_colored(color, maintenance::stabilize(self.clone()));
        let improve = spawn_colored(color, maintenance::improve(self.clone()));
        let repair = spawn_colored(color, repair::repair(self.clone()));
        [stabilize, improve, repair].map(|task| task.abort_handle()).into()
    }

    /// Hands the values over, and is no member from then on.
    pub(crate) async fn leave(&self) {
        let node = self.clone();
        let handed_over =
            spawn_colored(self.member.color(), async move { repair::hand_over(&node).await });
        // A node that cannot hand over leaves all the same: the other replicas are there.
        let _ = handed_over.await;
        self.stop().await;
    }

    /// Is no member from now on: as a crash.
    pub(crate) async fn stop(&self) {
        self.member.call(|member| drop(member.take())).await;
    }

    /// As [`stop`](Self::stop), without waiting for it.
    pub(crate) fn stop_soon(&self) {
        self.member.post(|member| drop(member.take()));
    }

    /// Looks up a key once, under the color of the node: the first step is by its own table.
    pub(crate) async fn look_up(&self, key: Id) -> Result<Found, Error> {
        let first = self.with(|member| member.table.step(key)).ok_or(Error::Lost)?;
        look_up_from(&self.peers, self.own, first, key).await
    }
}
