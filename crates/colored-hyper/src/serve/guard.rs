//! [`UpgradeGuard`]: upgraded connections in a graceful shutdown.

use super::drain::{Drain, Open, Phase};
use hyper::Request;
use hyper::service::Service;
use hyper::upgrade::OnUpgrade;
use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

/// Makes a server wait for a connection that it has upgraded to another protocol, and tells the connection when to end.
///
/// A server does not know when an upgraded connection ends, so it does not wait for one by itself. A task that holds a
/// guard as long as it uses the connection takes part in the
/// [graceful shutdown](crate::Serve::with_graceful_shutdown): the server waits until the guard is dropped, up to
/// [`drain_timeout`](crate::Serve::drain_timeout), and the connection counts for
/// [`max_connections`](crate::Serve::max_connections) until then. The module `websocket` does so.
///
/// ```
/// use colored_hyper::UpgradeGuard;
/// use hyper::body::Incoming;
/// use hyper::upgrade::Upgraded;
/// use hyper::{Request, Response, StatusCode};
///
/// # #[allow(dead_code)]
/// fn handler(request: Request<Incoming>) -> Response<String> {
///     let guard = UpgradeGuard::of(&request);
///     colored::spawn_unique(async {
///         if let (Some(mut guard), Ok(upgraded)) = (guard, hyper::upgrade::on(request).await) {
///             colored::select! {
///                 () = talk(upgraded) => {}
///                 () = guard.shutdown() => {}
///             }
///         }
///     });
///     let mut answer = Response::new(String::new());
///     *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
///     answer
/// }
///
/// async fn talk(upgraded: Upgraded) {
///     drop(upgraded); // Any protocol, from here on.
/// }
/// ```
pub struct UpgradeGuard(Open);

impl UpgradeGuard {
    /// A guard for the connection of `request`, if the request asks for an upgrade and belongs to a
    /// [`serve`](crate::serve()).
    pub fn of<B>(request: &Request<B>) -> Option<UpgradeGuard> {
        request.extensions().get().map(|Upgradable(drain)| UpgradeGuard(drain.open()))
    }

    /// Waits until the server begins to shut down. Cancel safe.
    pub async fn shutdown(&mut self) {
        poll_fn(|cx| self.poll_shutdown(cx)).await;
    }

    /// Ready when the server has begun to shut down. A guard wakes the task that has called this function or
    /// [`poll_cut`](UpgradeGuard::poll_cut) last.
    pub fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.0.poll(cx) {
            Phase::Serve => Poll::Pending,
            Phase::Drain | Phase::Cut => Poll::Ready(()),
        }
    }

    /// Ready when the time for the shutdown is over: the server has ended, and the connection should be dropped.
    pub fn poll_cut(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match self.0.poll(cx) {
            Phase::Serve | Phase::Drain => Poll::Pending,
            Phase::Cut => Poll::Ready(()),
        }
    }
}

impl fmt::Debug for UpgradeGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UpgradeGuard").finish_non_exhaustive()
    }
}

/// What a request that asks for an upgrade carries.
#[derive(Clone)]
struct Upgradable(Drain);

/// A service that marks these requests. Other requests pay for one look into their extensions, which are mostly empty.
pub(super) struct Marking<S> {
    pub(super) service: S,
    pub(super) drain: Drain,
}

impl<S, B> Service<Request<B>> for Marking<S>
where
    S: Service<Request<B>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, mut request: Request<B>) -> S::Future {
        if request.extensions().get::<OnUpgrade>().is_some() {
            request.extensions_mut().insert(Upgradable(self.drain.clone()));
        }
        self.service.call(request)
    }
}
