//! A listener for each worker.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use super::{ListenOptions, TcpListener, TcpSocket};
use crate::net::ToSocketAddrs;
use crate::net::error::all_failed;
use crate::services::current::{self, Context};

impl ListenOptions {
    /// As [`listen`](ListenOptions::listen), with a listener for each worker: see
    /// [`TcpListener::bind_per_worker`]. Cancel safe: a dropped call leaves no listener behind.
    ///
    /// # Errors
    ///
    /// The errors of `listen`, and of [`TcpListener::bind_per_worker`].
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn listen_per_worker(
        &self,
        addr: impl ToSocketAddrs,
    ) -> io::Result<Vec<TcpListener>> {
        self.check()?;
        // Of this runtime, also if another thread polls the rest.
        let contexts = current::with(each_worker);
        let target = addr.target()?;
        let mut failed = Vec::new();
        for &addr in &*target.resolve().await? {
            match self.listen_for(&contexts, addr) {
                Ok(listeners) => return Ok(listeners),
                Err(error) => failed.push((addr, error)),
            }
        }
        Err(all_failed("listen on", &target.to_string(), failed))
    }

    fn listen_for(&self, contexts: &[Context], addr: SocketAddr) -> io::Result<Vec<TcpListener>> {
        let (mut addr, mut listeners) = (addr, Vec::with_capacity(contexts.len()));
        for context in contexts {
            let listener = self.listen_on(addr, spread)?;
            // All have the port that the system chose for the first.
            addr = listener.local_addr()?;
            listeners.push(TcpListener::within(context, listener)?);
        }
        Ok(listeners)
    }
}

impl TcpListener {
    /// Listens with a socket for each worker of the runtime, all at one address, between which the system spreads the
    /// connections (`SO_REUSEPORT`). Accept from each of them in a task under a color of its own: then the workers accept
    /// in parallel, and no queue is shared.
    ///
    /// Measure whether it pays. On two workers it was slower than one listener, also with a connection for each request
    /// (`benches/papers/results/web-servers.md`). The system assigns a connection to a listener by a hash of its
    /// addresses when it arrives; there it waits, also while other listeners have nothing to do. One listener, from which
    /// several tasks accept, has no such wait. Connections that live long gain nothing here: their tasks run on all
    /// workers anyway.
    ///
    /// An HTTP server is a `colored_hyper::serve` for each of them.
    ///
    /// Cancel safe: a dropped call leaves no listener behind.
    ///
    /// Keep all of the listeners for as long as the program accepts. Dropping one resets the connections that wait in its
    /// queue.
    ///
    /// ```no_run
    /// use colored::net::{TcpListener, TcpStream};
    ///
    /// async fn serve(listener: TcpListener) -> std::io::Result<()> {
    ///     loop {
    ///         let (stream, _) = listener.accept().await?;
    ///         colored::spawn_unique(answer(stream));
    ///     }
    /// }
    /// # async fn answer(_: TcpStream) {}
    ///
    /// # #[colored::main]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut acceptors = colored::task::JoinSet::new();
    /// for listener in TcpListener::bind_per_worker("127.0.0.1:8080").await? {
    ///     acceptors.spawn_unique(serve(listener));
    /// }
    /// while let Some(ended) = acceptors.join_next().await {
    ///     ended.expect("the task is not aborted")?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// See [`ListenOptions::listen`]. [`Unsupported`](io::ErrorKind::Unsupported) on systems that do not spread
    /// connections: all but Linux, Android, FreeBSD and DragonFly BSD. Another program of the same user that
    /// listens in this way at the same address is no error: it gets a share of the connections.
    ///
    /// # Panics
    ///
    /// Outside a runtime.
    pub async fn bind_per_worker(addr: impl ToSocketAddrs) -> io::Result<Vec<TcpListener>> {
        ListenOptions::new().listen_per_worker(addr).await
    }
}

/// What a thread knows that is this worker, for each worker of the runtime.
fn each_worker(context: &Arc<Context>) -> Vec<Context> {
    let of = |worker| Context::new(Arc::clone(&context.services), Some(worker));
    (0..context.driver.timers.wheels()).map(of).collect()
}

/// Has the system spread the connections over the sockets that ask for it.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "dragonfly"))]
fn spread(socket: &TcpSocket) -> io::Result<()> {
    socket.set_reuseport(true)
}

#[cfg(target_os = "freebsd")]
fn spread(socket: &TcpSocket) -> io::Result<()> {
    socket.socket().set_reuse_port_lb(true)
}

#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "dragonfly",
    target_os = "freebsd"
)))]
fn spread(_: &TcpSocket) -> io::Result<()> {
    let text = "this system does not spread connections over several listeners at one address; \
                listen with one, from which several tasks may accept at once";
    Err(io::Error::new(io::ErrorKind::Unsupported, text))
}
