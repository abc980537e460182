//! [`Udp`]: an endpoint that calls and serves over datagrams.

mod cache;
mod receive;
mod retry;
mod state;

pub(crate) use self::receive::DatagramReply;
pub use self::retry::Retry;

use self::state::State;
use crate::auth::Auth;
use crate::error::RpcError;
use crate::message::{Procedure, append_call, set_xid};
use crate::table::Services;
use crate::xdr::decode;
use colored::net::{ToSocketAddrs, UdpSocket};
use colored::sync::{Semaphore, oneshot};
use colored::task::AbortHandle;
use colored::time::{Duration, Instant, timeout_at};
use colored::{Color, ColorCell, spawn_colored};
use nfs3_types::xdr_codec::{Pack, Unpack};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

/// The most bytes of a datagram over IPv4.
const DATAGRAM: usize = 65_507;

/// The settings of an endpoint.
#[derive(Clone, Debug)]
pub struct UdpOptions {
    /// The color of the endpoint's state, and of the task that receives.
    pub color: Color,
    /// When own calls are sent again.
    pub retry: Retry,
    /// Calls of others that are executed at the same time. Further ones are dropped; their callers send them again.
    pub in_progress: usize,
    /// Own calls that are pending at the same time. Further ones wait.
    pub window: usize,
    /// The replies that are kept, to answer a call that comes again: at most so many bytes, the newest ones. With 0, such a
    /// call is executed again.
    pub cache_bytes: usize,
    /// How long a reply is kept. Must be longer than the deadline of the clients.
    pub cache_age: Duration,
    /// Chooses the number of the first call, and the variation of the times of retries. A server mistakes a call for an earlier
    /// one if a new client has the address and the number of that one, so it must differ from start to start. Simulations set
    /// it.
    pub seed: u64,
}

impl Default for UdpOptions {
    /// A unique color, 1,024 calls in progress, 256 own calls, 16 MiB and 2 minutes of replies, a random seed.
    fn default() -> Self {
        Self {
            color: Color::unique(),
            retry: Retry::default(),
            in_progress: 1024,
            window: 256,
            cache_bytes: 16 << 20,
            cache_age: Duration::from_secs(120),
            seed: RandomState::new().hash_one(0),
        }
    }
}

/// An endpoint for datagrams, which makes calls to any address, and serves calls. Clones share it.
///
/// An own call is sent again until its reply comes. A call that comes again is not executed again: if its handler runs, it
/// is dropped; if the handler has finished, it gets the same reply, byte for byte. So a call whose caller has a result was
/// executed once, if the server has not been restarted in between, and its cache of replies is large enough.
///
/// The endpoint is open until its last handle is dropped, or [`close`](Self::close).
#[derive(Clone)]
pub struct Udp {
    shared: Arc<Shared>,
    auth: Arc<Auth>,
    retry: Retry,
}

struct Shared {
    socket: Arc<UdpSocket>,
    state: ColorCell<State>,
    window: Semaphore,
    retry: Retry,
    receiver: OnceLock<AbortHandle>,
}

impl Udp {
    /// An endpoint on a new socket, with the default options. Cancel safe.
    ///
    /// # Errors
    ///
    /// Those of [`UdpSocket::bind`].
    pub async fn bind(addr: impl ToSocketAddrs) -> io::Result<Self> {
        Ok(Self::over(UdpSocket::bind(addr).await?, UdpOptions::default()))
    }

    /// An endpoint on `socket`, which has no peer.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    #[must_use]
    pub fn over(socket: UdpSocket, options: UdpOptions) -> Self {
        let socket = Arc::new(socket);
        let retry = options.retry.clone();
        let (color, window) = (options.color, options.window);
        let shared = Arc::new(Shared {
            socket: Arc::clone(&socket),
            state: ColorCell::new(color, State::new(options)),
            window: Semaphore::new(window),
            retry: retry.clone(),
            receiver: OnceLock::new(),
        });
        let receiving = receive::receive(socket, Arc::downgrade(&shared));
        let receiver = spawn_colored(color, receiving).abort_handle();
        shared.receiver.set(receiver).expect("it is new");
        Self { shared, auth: Arc::new(Auth::None), retry }
    }

    /// Serves these programs from now on, in place of earlier ones. Calls that have come before are dropped, and so come
    /// again.
    ///
    /// A handler that keeps a handle to its own endpoint keeps it open: [`close`](Self::close) ends it.
    pub fn serve(&self, services: Services) {
        self.shared.state.post(move |state| state.serve(services));
    }

    /// A handle to the same endpoint, whose calls have these credentials.
    #[must_use]
    pub fn with_auth(&self, auth: Auth) -> Self {
        Self { auth: Arc::new(auth), ..self.clone() }
    }

    /// A handle to the same endpoint, whose calls are sent again at these times.
    #[must_use]
    pub fn with_retry(&self, retry: Retry) -> Self {
        Self { retry, ..self.clone() }
    }

    /// The address of the socket, with the port that the system chose.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.shared.socket.local_addr()
    }

    /// The color of the endpoint.
    #[must_use]
    pub fn color(&self) -> Color {
        self.shared.state.color()
    }

    /// Counts of what has come, since the endpoint was opened. Cancel safe.
    ///
    /// # Errors
    ///
    /// [`RpcError::Closed`] if the runtime shuts down.
    pub async fn counts(&self) -> Result<UdpCounts, RpcError> {
        let counts = self.shared.state.checked_call(|state| state.counts());
        counts.await.map_err(|_| RpcError::Closed)
    }

    /// Calls a procedure of the endpoint that replies from the address `to`. Sends the call again, at the times of
    /// [`Retry`], until the reply comes. Not cancel safe: the call may have been sent, and its result is lost.
    ///
    /// # Errors
    ///
    /// Each [`RpcError`] but `Io`: a datagram that cannot be sent is sent again as a lost one is.
    pub fn call<'a, A: Pack, R: Unpack>(
        &'a self,
        to: SocketAddr,
        procedure: Procedure,
        args: &A,
    ) -> impl Future<Output = Result<R, RpcError>> + Send + use<'a, A, R> {
        let datagram = self.encode(procedure, args);
        async move {
            let deadline = Instant::now() + self.retry.deadline;
            let exchange = self.exchange(to, datagram?);
            let reply = timeout_at(deadline, exchange).await;
            let reply = reply.unwrap_or(Err(RpcError::TimedOut(self.retry.deadline)))?;
            decode(&reply).map_err(|_| RpcError::BadReply)
        }
    }

    /// Closes the endpoint: calls fail with [`RpcError::Closed`], nothing is received any more. Handlers that run go on.
    pub fn close(&self) {
        self.shared.close();
    }

    fn encode<A: Pack>(&self, procedure: Procedure, args: &A) -> Result<Vec<u8>, RpcError> {
        let mut datagram = Vec::new();
        append_call(&mut datagram, procedure, &self.auth, args)?;
        match datagram.len() {
            0..=DATAGRAM => Ok(datagram),
            length => Err(RpcError::TooLong { length, limit: DATAGRAM }),
        }
    }

    /// Sends a call until its reply comes.
    async fn exchange(&self, to: SocketAddr, mut datagram: Vec<u8>) -> Result<Vec<u8>, RpcError> {
        let shared = &*self.shared;
        let _place = shared.window.acquire().await.map_err(|_| RpcError::Closed)?;
        let (sender, mut reply) = oneshot::channel();
        let begun = shared.state.checked_call(move |state| state.begin(to, sender)).await;
        let (xid, seed) = begun.map_err(|_| RpcError::Closed)??;
        let _pending = Pending { state: &shared.state, xid };
        set_xid(&mut datagram, 0, xid);
        for pause in self.retry.pauses(seed) {
            let again = Instant::now() + pause;
            // A datagram that cannot be sent is lost as well.
            let _ = shared.socket.send_to(&datagram, to).await;
            if let Ok(reply) = timeout_at(again, &mut reply).await {
                return reply.unwrap_or(Err(RpcError::Closed));
            }
        }
        unreachable!("pauses do not end")
    }
}

/// Forgets a call whose caller has its reply, or has gone.
struct Pending<'a> {
    state: &'a ColorCell<State>,
    xid: u32,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        let xid = self.xid;
        self.state.post(move |state| state.forget(xid));
    }
}

impl Shared {
    fn close(&self) {
        if let Some(receiver) = self.receiver.get() {
            receiver.abort();
        }
        self.state.post(State::close);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}

/// What an endpoint has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UdpCounts {
    /// Calls that were executed or refused.
    pub calls: u64,
    /// Calls that came again while their handlers ran, and were dropped.
    pub in_progress: u64,
    /// Calls that came again, and got the same reply.
    pub repeated: u64,
    /// Calls that were dropped because too many were in progress, or nothing was served yet.
    pub dropped: u64,
    /// Replies to own calls that had their reply, or no caller.
    pub late: u64,
    /// Datagrams that are no messages.
    pub garbage: u64,
    /// The bytes of the replies that are kept.
    pub cached_bytes: usize,
}

impl fmt::Debug for Udp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Udp").field("socket", &self.shared.socket).finish_non_exhaustive()
    }
}
