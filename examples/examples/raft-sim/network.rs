//! A network of datagrams: messages are late, lost, or cut off by a partition.

use crate::message::{Address, Envelope, Message};
use colored::sync::mpsc;
use colored::time::{Duration, sleep};
use colored::{ColorCell, sim, spawn_unique};
use fastrand::Rng;
use std::collections::BTreeMap;

/// What a node needs of a network.
pub(crate) trait Transport: Send + 'static {
    /// Sends a message, which may be lost.
    fn send(&mut self, to: Address, message: Message);
    /// The next message to this address. Cancel safe.
    fn receive(&mut self) -> impl Future<Output = Envelope> + Send;
}

/// A network in memory.
#[derive(Clone)]
pub(crate) struct Network(ColorCell<Wires>);

#[derive(Default)]
struct Wires {
    inboxes: BTreeMap<Address, mpsc::UnboundedSender<Envelope>>,
    /// An address that nobody hears, and one that hears nobody.
    cut: [Option<Address>; 2],
}

impl Network {
    pub(crate) fn new() -> Self {
        Self(ColorCell::new(u64::MAX, Wires::default()))
    }

    /// Listens for the messages to this address, in place of who has listened before.
    pub(crate) fn endpoint(&self, own: Address) -> Endpoint {
        let (sender, inbox) = mpsc::unbounded_channel();
        self.0.post(move |wires| drop(wires.inboxes.insert(own, sender)));
        Endpoint { network: self.clone(), own, inbox, random: Rng::with_seed(sim::random()) }
    }

    /// Cuts an address off: what it sends, what it would receive, or both.
    pub(crate) fn cut(&self, address: Address, is_silent: bool, is_deaf: bool) {
        self.0.post(move |wires| {
            wires.cut = [is_silent.then_some(address), is_deaf.then_some(address)];
        });
    }

    pub(crate) fn heal(&self) {
        self.0.post(|wires| wires.cut = [None, None]);
    }
}

/// An address of the network in memory.
pub(crate) struct Endpoint {
    network: Network,
    own: Address,
    inbox: mpsc::UnboundedReceiver<Envelope>,
    /// Its own, so that what one address does not send changes no delay of another.
    random: Rng,
}

impl Transport for Endpoint {
    fn send(&mut self, to: Address, message: Message) {
        let late = if self.random.u64(..40) == 0 { 250 } else { 0 };
        let delay = Duration::from_millis(late + self.random.u64(1..=5));
        if self.random.u64(..40) == 0 {
            return;
        }
        let envelope = Envelope { from: self.own, message };
        let wires = self.network.0.clone();
        drop(spawn_unique(async move {
            sleep(delay).await;
            wires.post(move |wires| {
                let is_cut = wires.cut[0] == Some(envelope.from) || wires.cut[1] == Some(to);
                if let Some(inbox) = wires.inboxes.get(&to).filter(|_| !is_cut) {
                    let _ = inbox.send(envelope);
                }
            });
        }));
    }

    async fn receive(&mut self) -> Envelope {
        match self.inbox.recv().await {
            Some(envelope) => envelope,
            // Another one listens to this address now.
            None => std::future::pending().await,
        }
    }
}
