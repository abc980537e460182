//! The connection of a client, which is made again when it breaks.

use super::cache::Cache;
use super::{Error, Options, Result, Target};
use crate::door::{self, Duplex};
use crate::keys::Identity;
use crate::lease_protocol::{self, FileArgs, HelloAnswer, HelloArgs};
use crate::settings::Mistake;
use crate::tls;
use colored::ColorCell;
use colored::net::TcpStream;
use colored::sync::Mutex;
use colored::time::{Duration, Instant, sleep, timeout_at};
use nfs3_types::xdr_codec::{Pack, Unpack, Void};
use rpc::{Auth, Procedure, Program, RpcError, Services, UnixAuth};
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tokio_rustls::TlsConnector;

/// How long a client waits before it connects again, after a failure.
const PAUSE: Duration = Duration::from_millis(100);

/// How long one request may take before its connection is taken for broken. It is longer than a writer waits for a usual lease.
const ANSWER: Duration = Duration::from_secs(30);

pub(super) struct Link {
    address: String,
    connector: Option<TlsConnector>,
    services: Services,
    client: [u8; 16],
    user: u32,
    /// The number of the next request.
    next: AtomicU32,
    patience: Duration,
    gives_up: bool,
    /// The open connection.
    open: Mutex<Option<rpc::Client>>,
    /// The length of a lease in milliseconds.
    lease: AtomicU64,
}

impl Link {
    pub(super) fn new(
        target: &Target,
        identity: &Identity,
        options: &Options,
        cache: ColorCell<Cache>,
    ) -> Link {
        Link {
            address: target.address.clone(),
            connector: target.key.map(|server| tls::connector(identity, server)),
            services: Services::new().with(call_backs(cache)),
            client: options.client,
            user: options.user,
            next: AtomicU32::new(1),
            patience: options.patience,
            gives_up: options.mistake == Some(Mistake::GivesUpWithTheConnection),
            open: Mutex::new(None),
            lease: AtomicU64::new(0),
        }
    }

    /// How long a lease is, from when the server gives it; nothing before the first connection.
    pub(super) fn lease(&self) -> Duration {
        // Ordering: a number that stands alone. An old one makes leases that are asked for early.
        Duration::from_millis(self.lease.load(Ordering::Relaxed))
    }

    /// Calls a procedure, again and again while the connection breaks. The server knows by the stamp what it has done already.
    pub(super) async fn call<A: Pack + Sync, R: Unpack>(
        &self,
        program: u32,
        version: u32,
        procedure: u32,
        args: &A,
    ) -> Result<R> {
        let end = Instant::now() + self.patience;
        let procedure = Procedure::new(program, version, procedure);
        // Ordering: the numbers are different, whatever their order.
        let auth = self.auth(self.next.fetch_add(1, Ordering::Relaxed));
        loop {
            let error = match self.attempt(procedure, args, &auth, end).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let is_final = matches!(
                error,
                RpcError::Refused(_)
                    | RpcError::BadReply
                    | RpcError::NotEncoded
                    | RpcError::TooLong { .. }
            );
            if is_final || self.gives_up || Instant::now() + PAUSE >= end {
                return Err(Error::Link(io::Error::other(error)));
            }
            sleep(PAUSE).await;
        }
    }

    async fn attempt<A: Pack, R: Unpack>(
        &self,
        procedure: Procedure,
        args: &A,
        auth: &Auth,
        end: Instant,
    ) -> std::result::Result<R, RpcError> {
        let client = match timeout_at(end, self.connection()).await {
            Ok(client) => client?,
            Err(_) => return Err(RpcError::TimedOut(self.patience)),
        };
        let answer = client.with_auth(auth.clone()).call(procedure, args).await;
        if let Err(RpcError::TimedOut(_)) = answer {
            // The request may be on its way: the next connection waits until it has ended.
            client.close();
        }
        answer
    }

    fn auth(&self, stamp: u32) -> Auth {
        let (uid, gid) = (self.user, self.user);
        Auth::Unix(UnixAuth { stamp, uid, gid, ..UnixAuth::default() })
    }

    /// The open connection, or a new one.
    async fn connection(&self) -> std::result::Result<rpc::Client, RpcError> {
        let mut open = self.open.lock().await;
        if let Some(client) = open.as_ref()
            && !has_ended(client)
        {
            return Ok(client.clone());
        }
        *open = None;
        let client = self.connect().await?;
        *open = Some(client.clone());
        Ok(client)
    }

    async fn connect(&self) -> std::result::Result<rpc::Client, RpcError> {
        let failed = |error| RpcError::Io(std::sync::Arc::new(error));
        let stream = TcpStream::connect(&self.address).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let stream: Box<dyn Duplex> = match &self.connector {
            Some(connector) => {
                Box::new(connector.connect(tls::server_name(), stream).await.map_err(failed)?)
            }
            None => Box::new(stream),
        };
        let connection = door::connection(stream).serve(self.services.clone());
        let client = connection.auth(self.auth(0)).open().with_timeout(ANSWER);
        let (program, version) = (lease_protocol::PROGRAM, lease_protocol::VERSION);
        let hello = Procedure::new(program, version, lease_protocol::HELLO);
        let answer = client.call(hello, &HelloArgs { client: self.client }).await;
        let answer: HelloAnswer = answer.inspect_err(|_| client.close())?;
        // Ordering: as in `lease`.
        self.lease.store(answer.lease_ms.into(), Ordering::Relaxed);
        Ok(client)
    }
}

/// Whether the connection has ended, asked without waiting.
fn has_ended(client: &rpc::Client) -> bool {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    std::pin::pin!(client.ended()).poll(&mut context).is_ready()
}

/// The program that the server calls.
fn call_backs(cache: ColorCell<Cache>) -> Program {
    let color = cache.color();
    Program::new(lease_protocol::CALL_BACK_PROGRAM, lease_protocol::VERSION).procedure(
        lease_protocol::RECALL,
        move |_, _| color,
        move |_, args: FileArgs| {
            let cache = cache.clone();
            async move {
                cache.with(|cache| cache.recall(&args.file.data));
                Ok(Void)
            }
        },
    )
}

impl Drop for Link {
    fn drop(&mut self) {
        // The connection serves call-backs, so it lives on without its handles.
        if let Some(client) = self.open.get_mut() {
            client.close();
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("address", &self.address).finish_non_exhaustive()
    }
}
