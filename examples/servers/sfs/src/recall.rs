//! Calls the caches of the clients back before a file changes.

use crate::leases::{Holder, Leases};
use crate::nodes::Id;
use crate::palette::Palette;
use crate::settings::{Mistake, Settings};
use colored::task::JoinSet;
use colored::time::{Duration, Instant, sleep_until, timeout_at};
use colored::{Color, ColorCell};
use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

/// The way back to a client, on its connection.
pub(crate) trait CallBack: fmt::Debug + Send + Sync {
    /// Has the client forget a file. Returns whether it has answered.
    fn recall(&self, id: Id) -> Pin<Box<dyn Future<Output = bool> + Send>>;

    /// Ends the connection, and waits until its calls have ended.
    fn end(&self) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// A client, and the number of its connection.
type Way = (u64, Arc<dyn CallBack>);

/// The leases that are out, and the clients that have them.
#[derive(Debug)]
pub(crate) struct Recall {
    leases: Vec<ColorCell<Leases>>,
    clients: ColorCell<BTreeMap<Holder, Way>>,
    lease: Duration,
    /// Until then, clients may have leases of the run before.
    first_change: Instant,
    mistake: Option<Mistake>,
}

/// A change that is under way: nobody has a lease of its files, or gets one. Dropping it ends the change.
#[must_use]
#[derive(Debug)]
pub(crate) struct Change(Vec<(ColorCell<Leases>, Id)>);

impl Recall {
    pub(crate) fn new(palette: &Palette, settings: &Settings) -> Recall {
        let grace = match settings.mistake {
            Some(Mistake::ForgetsTheGracePeriod) => Duration::ZERO,
            _ => settings.lease,
        };
        Recall {
            leases: palette
                .files
                .iter()
                .map(|color| ColorCell::new(*color, Leases::default()))
                .collect(),
            clients: ColorCell::new(palette.names, BTreeMap::new()),
            lease: settings.lease,
            first_change: Instant::now() + grace,
            mistake: settings.mistake,
        }
    }

    pub(crate) fn lease(&self) -> Duration {
        self.lease
    }

    /// From now on the client is called back on this connection. Returns the way before.
    pub(crate) async fn meet(
        &self,
        holder: Holder,
        connection: u64,
        back: Arc<dyn CallBack>,
    ) -> Option<Arc<dyn CallBack>> {
        let before = self.clients.call(move |clients| clients.insert(holder, (connection, back)));
        before.await.filter(|(number, _)| *number != connection).map(|(_, back)| back)
    }

    /// The connection has ended, and its calls too. The client keeps its leases: it may be there.
    pub(crate) async fn part(&self, holder: Holder, connection: u64) {
        let forget = move |clients: &mut BTreeMap<Holder, Way>| {
            if clients.get(&holder).is_some_and(|(number, _)| *number == connection) {
                clients.remove(&holder);
            }
        };
        self.clients.call(forget).await;
    }

    /// Gives a lease, from now on; `false` while the file changes.
    pub(crate) async fn take(&self, id: Id, holder: Holder) -> bool {
        let (now, lease) = (Instant::now(), self.lease);
        self.shard(id).call(move |leases| leases.take(id, holder, now, lease)).await
    }

    pub(crate) async fn give_all_back(&self, holder: Holder) {
        for leases in &self.leases {
            leases.call(move |leases| leases.give_all_back(holder)).await;
        }
    }

    /// How many leases are out.
    pub(crate) async fn len(&self) -> usize {
        let mut all = 0;
        for leases in &self.leases {
            all += leases.call(|leases| leases.len()).await;
        }
        all
    }

    /// Waits until nobody else caches the files: all holders have answered, or their leases have expired. After a restart,
    /// also until no lease of the run before is left.
    pub(crate) async fn begin_change(&self, files: &[Id], by: Option<Holder>) -> Change {
        sleep_until(self.first_change).await;
        let mut files = files.to_vec();
        files.sort_unstable();
        files.dedup();
        let mut change = Change(Vec::new());
        let mut calls = JoinSet::new();
        for id in files {
            let (shard, now) = (self.shard(id), Instant::now());
            let holders = shard.call(move |leases| leases.begin_change(id, by, now)).await;
            change.0.push((shard.clone(), id));
            for (holder, until) in holders {
                let way = self.clients.call(move |clients| clients.get(&holder).cloned()).await;
                let shard = shard.clone();
                let until = match self.mistake {
                    Some(Mistake::WaitsForTwoLeases) => until + self.lease,
                    _ => until,
                };
                let here = Color::current().unwrap_or(Color::DEFAULT);
                calls.spawn_colored(here, async move {
                    call_back(way, id, until).await;
                    shard.post(move |leases| leases.give_back(id, holder));
                });
            }
        }
        match self.mistake {
            Some(Mistake::AnswersBeforeTheCallBacks) => calls.detach_all(),
            Some(Mistake::ForgetsTheCallBacks) => calls.abort_all(),
            _ => while calls.join_next().await.is_some() {},
        }
        change
    }

    fn shard(&self, id: Id) -> &ColorCell<Leases> {
        &self.leases[id.0 as usize % self.leases.len()]
    }
}

/// Returns when the client has forgotten the file, or its lease has expired.
async fn call_back(way: Option<Way>, id: Id, until: Instant) {
    let answered = match way {
        Some((_, back)) => timeout_at(until, back.recall(id)).await.unwrap_or(false),
        None => false,
    };
    if !answered {
        sleep_until(until).await;
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        for (leases, id) in self.0.drain(..) {
            leases.post(move |leases| leases.end_change(id));
        }
    }
}
