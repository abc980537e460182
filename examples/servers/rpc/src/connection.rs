//! [`Connection`] and [`Client`]: calls in both directions on a stream.

mod patient;
mod reader;
mod state;
mod writer;

pub(crate) use self::writer::Outgoing;

use self::patient::Patient;
use self::state::State;
use crate::auth::Auth;
use crate::caller::Identity;
use crate::error::RpcError;
use crate::message::{Procedure, append_call};
use crate::record::{HEADER, Records, begin_record, finish_record};
use crate::table::Services;
use crate::xdr::decode;
use colored::io::{AsyncRead, AsyncWrite, split};
use colored::net::Progress;
use colored::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use colored::time::{Duration, timeout};
use colored::{Color, ColorCell, spawn_colored};
use nfs3_types::xdr_codec::{Pack, Unpack};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

/// The limits of a connection.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The bytes of a record that comes or goes. A longer one that comes ends the connection.
    pub record: usize,
    /// Calls of the other side that are executed at the same time, or whose replies are not written yet. Further calls
    /// wait in the stream. While own calls are pending, further calls are answered by
    /// [`Refusal::SystemError`](crate::Refusal::SystemError) instead: the replies to the own calls are behind them.
    pub in_progress: usize,
    /// Own calls that are pending at the same time. Further ones wait.
    pub window: usize,
    /// How long the other side may take nothing of what is written; then the connection ends. A side that takes something
    /// all the time, however slowly, has as much time as it needs; its end is noticed within twice the limit. And how long
    /// calls in progress may take after the end of the connection, to be answered nevertheless.
    pub write: Duration,
}

impl Default for Limits {
    /// 2 MiB a record, 1,024 calls in progress, 256 own calls, 60 s.
    fn default() -> Self {
        Self { record: 2 << 20, in_progress: 1024, window: 256, write: Duration::from_secs(60) }
    }
}

/// A stream on which calls are to be made and served: TCP, TLS, a Unix socket.
///
/// Both sides may call. The state of a connection, and its two tasks, are under one color.
#[derive(Debug)]
pub struct Connection<S> {
    stream: S,
    services: Option<Services>,
    color: Color,
    peer: Option<SocketAddr>,
    identity: Option<Identity>,
    limits: Limits,
    progress: patient::Ask<S>,
    auth: Auth,
    hold: Option<OwnedSemaphorePermit>,
}

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> Connection<S> {
    /// A connection over `stream`, which makes calls and serves none, under a unique color.
    pub fn over(stream: S) -> Self {
        Self {
            stream,
            services: None,
            color: Color::unique(),
            peer: None,
            identity: None,
            limits: Limits::default(),
            progress: patient::of_sockets,
            auth: Auth::None,
            hold: None,
        }
    }

    /// Serves the calls of the other side.
    #[must_use]
    pub fn serve(mut self, services: Services) -> Self {
        self.services = Some(services);
        self
    }

    /// The color of the connection.
    #[must_use]
    pub fn color(mut self, color: impl Into<Color>) -> Self {
        self.color = color.into();
        self
    }

    /// The address of the other side, for [`Caller::peer`](crate::Caller::peer).
    #[must_use]
    pub fn peer(mut self, peer: SocketAddr) -> Self {
        self.peer = Some(peer);
        self
    }

    /// Who the other side is, for example by its certificate, for [`Caller::identity`](crate::Caller::identity).
    #[must_use]
    pub fn identity(mut self, identity: impl std::any::Any + Send + Sync) -> Self {
        self.identity = Some(Arc::new(identity));
        self
    }

    /// The limits of the connection.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How far the bytes of the stream have come, as the socket below it says: by this [`Limits::write`] tells a slow side
    /// from a silent one. Default: that of the stream, if it is a `TcpStream` or a `UnixStream` of the runtime; of others,
    /// bytes count as taken when the stream takes them.
    #[must_use]
    pub fn progress(mut self, progress: fn(&S) -> Option<Progress>) -> Self {
        self.progress = progress;
        self
    }

    /// The credentials of own calls; see [`Client::with_auth`].
    #[must_use]
    pub fn auth(mut self, auth: Auth) -> Self {
        self.auth = auth;
        self
    }

    /// Held until the connection has ended.
    pub(crate) fn hold(mut self, permit: OwnedSemaphorePermit) -> Self {
        self.hold = Some(permit);
        self
    }

    /// Begins to read and to write.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub fn open(self) -> Client {
        let stream = Patient::new(self.stream, self.limits.write, self.progress);
        let (reading, writing) = split(stream);
        let (queue, queued) = mpsc::unbounded_channel();
        let (end, ended) = watch::channel(None);
        let state = ColorCell::new(self.color, State::new(queue.clone(), end));
        let client = Client {
            shared: Arc::new(Shared {
                state: state.clone(),
                window: Arc::new(Semaphore::new(self.limits.window)),
                ended,
                record: self.limits.record,
            }),
            auth: Arc::new(self.auth),
            timeout: None,
        };
        let (hold, write) = (self.hold, self.limits.write);
        let ended = client.shared.ended.clone();
        let mistake = self.services.as_ref().and_then(|services| services.mistake);
        let reader = reader::Reader {
            state: state.clone(),
            queue,
            slots: Arc::new(Semaphore::new(self.limits.in_progress)),
            refusals: Arc::new(Semaphore::new(self.limits.in_progress)),
            serving: self.services.map(|services| (services, client.clone())),
            peer: self.peer,
            identity: self.identity,
        };
        let records = Records::new(reading, self.limits.record, mistake);
        let reader = spawn_colored(self.color, reader.run(records)).abort_handle();
        drop(spawn_colored(self.color, async move {
            writer::write(writing, queued, write, state, ended).await;
            drop(hold);
        }));
        client.shared.state.post(move |state| state.set_reader(reader));
        client
    }
}

/// A handle to a connection, which makes calls on it. Clones share the connection.
///
/// A connection that serves nothing is closed when its last handle is dropped. One that serves lives until the other side
/// ends it, an error does, or [`close`](Self::close).
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    auth: Arc<Auth>,
    timeout: Option<Duration>,
}

struct Shared {
    state: ColorCell<State>,
    window: Arc<Semaphore>,
    ended: watch::Receiver<Option<RpcError>>,
    record: usize,
}

impl Client {
    /// A handle to the same connection, whose calls have these credentials.
    #[must_use]
    pub fn with_auth(&self, auth: Auth) -> Self {
        Self { auth: Arc::new(auth), ..self.clone() }
    }

    /// A handle to the same connection, whose calls fail with [`RpcError::TimedOut`] after this time. Default: none.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self.clone() }
    }

    /// The color of the connection.
    #[must_use]
    pub fn color(&self) -> Color {
        self.shared.state.color()
    }

    /// Calls a procedure of the other side. Calls of one task are sent in the order of their first polls; the replies come in
    /// any order. Not cancel safe: the call may have been sent, and its result is lost.
    ///
    /// # Errors
    ///
    /// Each [`RpcError`].
    pub fn call<'a, A: Pack, R: Unpack>(
        &'a self,
        procedure: Procedure,
        args: &A,
    ) -> impl Future<Output = Result<R, RpcError>> + Send + use<'a, A, R> {
        let record = self.encode(procedure, args);
        async move {
            let (reply, start) = self.exchange(record?).await?;
            decode(&reply[start..]).map_err(|_| RpcError::BadReply)
        }
    }

    /// Waits until the connection has ended. Cancel safe.
    ///
    /// # Errors
    ///
    /// [`RpcError::Io`] if an error has ended it.
    pub async fn ended(&self) -> Result<(), RpcError> {
        let mut ended = self.shared.ended.clone();
        let end = ended.wait_for(Option::is_some).await;
        match end.ok().and_then(|end| end.clone()) {
            Some(RpcError::Io(error)) => Err(RpcError::Io(error)),
            _ => Ok(()),
        }
    }

    /// Ends the connection: pending calls fail with [`RpcError::Closed`], and no more calls are read. Those in progress have
    /// the time of [`Limits::write`] to be answered.
    pub fn close(&self) {
        self.shared.state.post(|state| state.end(RpcError::Closed));
    }

    fn encode<A: Pack>(&self, procedure: Procedure, args: &A) -> Result<Vec<u8>, RpcError> {
        let mut record = begin_record();
        append_call(&mut record, procedure, &self.auth, args)?;
        let (length, limit) = (record.len() - HEADER, self.shared.record);
        if length > limit {
            return Err(RpcError::TooLong { length, limit });
        }
        finish_record(&mut record);
        Ok(record)
    }

    async fn exchange(&self, record: Vec<u8>) -> Result<(Vec<u8>, usize), RpcError> {
        let exchange = self.shared.exchange(record);
        match self.timeout {
            None => exchange.await,
            Some(after) => timeout(after, exchange).await.unwrap_or(Err(RpcError::TimedOut(after))),
        }
    }
}

impl Shared {
    /// Sends a call and waits for its reply: the record, and where the result begins in it.
    async fn exchange(&self, record: Vec<u8>) -> Result<(Vec<u8>, usize), RpcError> {
        let window = Arc::clone(&self.window);
        let permit = window.acquire_owned().await.map_err(|_| RpcError::Closed)?;
        let (sender, reply) = oneshot::channel();
        let begin = move |state: &mut State| state.begin(record, sender, permit);
        let begun = self.state.checked_call(begin).await;
        let xid = begun.map_err(|_| RpcError::Closed)??;
        let mut pending = Pending { state: &self.state, xid: Some(xid) };
        let reply = reply.await;
        pending.xid = None;
        reply.unwrap_or(Err(RpcError::Closed))
    }
}

/// Forgets a call whose caller has gone.
struct Pending<'a> {
    state: &'a ColorCell<State>,
    xid: Option<u32>,
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if let Some(xid) = self.xid {
            self.state.post(move |state| state.forget(xid));
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.state.post(|state| state.end(RpcError::Closed));
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("color", &self.color()).finish_non_exhaustive()
    }
}
