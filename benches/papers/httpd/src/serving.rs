//! The steps of a request, and their colors.
//!
//! | step | `colored` | `serial` |
//! |---|---|---|
//! | accept a connection | a color of its own | [`Color::DEFAULT`](colored::Color::DEFAULT) |
//! | read the request, parse it, write the answer | the connection's | the same |
//! | look into the cache, keep what was read | the shard's | the same |
//! | open and read a file, if that waits | none: a thread, or io_uring | none |

use crate::answer::Site;
use crate::options::{Coloring, Options};
use crate::outbox::Outbox;
use crate::steps;
use crate::wire::Wires;
use colored::net::TcpListener;
use colored_hyper::{DrainTimeout, serve_with};
use hyper::service::service_fn;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

/// Serves the site until `stop` is ready, and then what has begun.
///
/// # Errors
///
/// If that takes too long.
pub(crate) async fn serve_site(
    listener: TcpListener,
    site: &Arc<Site>,
    options: &Options,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), DrainTimeout> {
    let (site, sendfile, keep_alive) = (Arc::clone(site), options.sendfile, options.keep_alive);
    let service = move |(_, outbox): (SocketAddr, Outbox)| {
        steps::note("accept");
        let (site, outbox) = (Arc::clone(&site), sendfile.then_some(outbox));
        service_fn(move |request| {
            let (site, outbox) = (Arc::clone(&site), outbox.clone());
            async move {
                steps::note("request");
                Ok::<_, Infallible>(site.answer(request, outbox.as_ref()).await)
            }
        })
    };
    serve_with(Wires(listener), service)
        .coloring(match options.coloring {
            Coloring::Colored => colored_hyper::Coloring::Connection,
            Coloring::Serial => colored_hyper::Coloring::Default,
        })
        .http1_only()
        .http1(move |http1| {
            http1.keep_alive(keep_alive);
        })
        .with_graceful_shutdown(stop)
        .await
}
