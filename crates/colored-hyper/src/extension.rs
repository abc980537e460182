//! [`with_extension`]: a value for each request of a connection.

use hyper::Request;
use hyper::service::Service;

/// Adds a clone of `value` to the extensions of each request: what [`serve_with`](crate::serve_with) knows of a
/// connection, for handlers.
///
/// With axum's `ConnectInfo` for the value, handlers take the address of the client as they do under `axum::serve`:
///
/// ```no_run
/// use axum::Router;
/// use axum::extract::ConnectInfo;
/// use axum::routing::get;
/// use colored_hyper::{serve_with, tower, with_extension};
/// use std::net::SocketAddr;
///
/// # async fn example(listener: colored::net::TcpListener) -> std::io::Result<()> {
/// let router: Router = Router::new()
///     .route("/", get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.to_string()));
/// serve_with(listener, move |peer| with_extension(tower(router.clone()), ConnectInfo(peer))).await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn with_extension<S, T>(service: S, value: T) -> WithExtension<S, T>
where
    T: Clone + Send + Sync + 'static,
{
    WithExtension { service, value }
}

/// A service whose requests have a value in their extensions. Made by [`with_extension`].
#[derive(Clone, Copy, Debug)]
pub struct WithExtension<S, T> {
    service: S,
    value: T,
}

impl<S, T, B> Service<Request<B>> for WithExtension<S, T>
where
    S: Service<Request<B>>,
    T: Clone + Send + Sync + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn call(&self, mut request: Request<B>) -> S::Future {
        request.extensions_mut().insert(self.value.clone());
        self.service.call(request)
    }
}
