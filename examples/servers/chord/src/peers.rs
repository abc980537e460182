//! [`Peers`]: calls to the nodes of other processes, and of this one.

use crate::contact::Contact;
use crate::id::Id;
use crate::service::{self, Nodes};
use crate::settings::Settings;
use crate::silence::Silence;
use crate::value::Value;
use crate::wire::{
    Data, KeyCall, Maybe, Neighbours, NeighboursCall, OfferCall, Offered, Row, Step, StoreCall,
    Stored,
};
use colored::net::UdpSocket;
use colored::time::Duration;
use rpc::nfs3_types::xdr_codec::{Pack, Unpack};
use rpc::{Procedure, Retry, RpcError, Services, Udp, UdpOptions};
use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::Arc;

/// When a call is sent: 8 times in a second. If 10 % of the packets are lost each way, one in 600,000 calls is not
/// answered in this time.
fn retry(deadline: Duration) -> Retry {
    Retry { first: Duration::from_millis(40), most: Duration::from_millis(160), deadline }
}

/// Why a node did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallFailed {
    /// The process says that the node is no member of the ring.
    NotHere,
    /// No answer came in time.
    NoAnswer,
}

/// Where a packet to a process goes, if not to its address: a relay that loses some.
pub(crate) type Detour = Arc<dyn Fn(SocketAddrV4) -> SocketAddrV4 + Send + Sync>;

/// The socket of a process or a client. Clones share it.
#[derive(Clone)]
pub(crate) struct Peers {
    udp: Udp,
    /// The same one, for processes that have not answered lately.
    brief: Udp,
    max_look_up: Duration,
    detour: Option<Detour>,
    silence: Arc<Silence>,
}

impl Peers {
    /// A socket at this address.
    pub(crate) async fn bind(address: SocketAddrV4, settings: &Settings) -> io::Result<Self> {
        let socket = UdpSocket::bind(address).await?;
        let options = UdpOptions {
            retry: retry(settings.deadline),
            cache_bytes: 1 << 20,
            cache_age: 2 * settings.deadline,
            seed: settings.seed,
            ..UdpOptions::default()
        };
        let udp = Udp::over(socket, options);
        let brief = udp.with_retry(retry(settings.deadline / 5));
        let max_look_up = 5 * settings.deadline;
        Ok(Self { udp, brief, max_look_up, detour: None, silence: Arc::default() })
    }

    /// Answers for these nodes from now on.
    pub(crate) fn serve(&self, nodes: &Nodes) {
        self.udp.serve(Services::new().with(service::program(nodes)));
    }

    /// Ends all calls, and answers no more.
    pub(crate) fn close(&self) {
        self.udp.close();
    }

    /// Sends by way of these addresses.
    pub(crate) fn with_detour(self, detour: Detour) -> Self {
        Self { detour: Some(detour), ..self }
    }

    /// The address of the socket.
    pub(crate) fn address(&self) -> io::Result<SocketAddrV4> {
        match self.udp.local_addr()? {
            SocketAddr::V4(address) => Ok(address),
            SocketAddr::V6(_) => Err(io::Error::other("a contact has an IPv4 address")),
        }
    }

    /// How long one look-up takes, at most.
    pub(crate) fn max_look_up(&self) -> Duration {
        self.max_look_up
    }

    /// Which processes have not answered lately.
    pub(crate) fn silence(&self) -> &Arc<Silence> {
        &self.silence
    }

    /// Whether the process of the node has not answered lately: others are asked first.
    pub(crate) fn is_silent(&self, contact: Contact) -> bool {
        self.silence.includes(contact.process())
    }

    pub(crate) async fn step(&self, to: Contact, key: Id) -> Result<Step, CallFailed> {
        self.call(to, service::STEP, &KeyCall { node: to.number().into(), key }).await
    }

    pub(crate) async fn neighbours(
        &self,
        to: Contact,
        caller: Option<Contact>,
    ) -> Result<Neighbours, CallFailed> {
        let caller = Maybe::from_option(caller);
        let call = NeighboursCall { node: to.number().into(), caller };
        self.call(to, service::NEIGHBOURS, &call).await
    }

    pub(crate) async fn fetch(&self, to: Contact, key: Id) -> Result<Option<Vec<u8>>, CallFailed> {
        let call = KeyCall { node: to.number().into(), key };
        let data: Maybe<Data> = self.call(to, service::FETCH, &call).await?;
        Ok(data.into_option().map(|data| data.0))
    }

    pub(crate) async fn store(&self, to: Contact, value: &Value) -> Result<Stored, CallFailed> {
        let data = Data(value.bytes().to_vec());
        let call = StoreCall { node: to.number().into(), key: value.key(), data };
        self.call(to, service::STORE, &call).await
    }

    /// Which of these values the node lacks: a bit each, the first one the lowest.
    pub(crate) async fn offer(&self, to: Contact, offered: &[Offered]) -> Result<u32, CallFailed> {
        let call = OfferCall { node: to.number().into(), offered: Row(offered.to_vec()) };
        self.call(to, service::OFFER, &call).await
    }

    async fn call<A: Pack, R: Unpack>(
        &self,
        to: Contact,
        procedure: Procedure,
        arguments: &A,
    ) -> Result<R, CallFailed> {
        let process = to.process();
        let address = self.detour.as_ref().map_or(process, |detour| detour(process));
        let udp = if self.silence.includes(process) { &self.brief } else { &self.udp };
        let reply: Result<Maybe<R>, _> = udp.call(address.into(), procedure, arguments).await;
        self.silence.note(process, !matches!(reply, Err(RpcError::TimedOut(_))));
        let reply = reply.map_err(|_| CallFailed::NoAnswer)?;
        reply.into_option().ok_or(CallFailed::NotHere)
    }
}
