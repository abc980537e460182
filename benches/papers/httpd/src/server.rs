//! The life of the server, and of its copies.

use crate::access::Access;
use crate::aio;
use crate::answer::Site;
use crate::cache::{Cache, Counts};
use crate::helpers::{self, Helpers};
use crate::options::{Coloring, Mode, Options};
use crate::serving::serve_site;
use crate::steps;
use colored::net::{ListenOptions, TcpListener};
use colored::task::JoinSet;
use colored::{Color, Runtime};
use colored_examples_common::{Failure, asked_to_stop};
use std::net::{self, SocketAddr};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::{io, thread};

/// The whole program: a server, or one of its helpers.
pub(crate) fn main() -> Result<(), Failure> {
    if std::env::args_os().nth(1).is_some_and(|word| word == helpers::ROLE) {
        return Ok(helpers::help()?);
    }
    let options = Options::from_command_line()?;
    if options.steps {
        steps::show();
    }
    let (addr, listeners) = Runtime::builder().workers(1).build()?.run(listen(options.clone()))?;
    // All of them listen already, so the first one speaks for the others.
    let mut addr = Some(addr);
    let copy = |listener| {
        let (options, addr) = (options.clone(), addr.take());
        thread::spawn(move || run_copy(options, listener, addr))
    };
    let copies: Vec<_> = listeners.into_iter().map(copy).collect();
    let mut counts = Counts::default();
    for copy in copies {
        counts += copy.join().unwrap_or_else(|panic| resume_unwind(panic))?;
    }
    let Counts { hits, misses, reads, evictions } = counts;
    println!("{hits} hits, {misses} misses, {reads} reads and {evictions} evictions of the cache");
    Ok(())
}

/// The listeners of all copies, at one address, between which the system spreads the connections.
async fn listen(options: Options) -> Result<(SocketAddr, Vec<net::TcpListener>), Failure> {
    let listen = ListenOptions::new().reuse_port(options.copies > 1 || options.listeners_each);
    let first = listen.listen(options.addr).await?;
    let addr = first.local_addr()?;
    let mut listeners = vec![first.into_std()?];
    for _ in 1..options.copies {
        listeners.push(listen.listen(addr).await?.into_std()?);
    }
    Ok((addr, listeners))
}

/// Runs a copy to its end, on a runtime of its own. Returns what its cache has done.
fn run_copy(
    options: Options,
    listener: net::TcpListener,
    addr: Option<SocketAddr>,
) -> Result<Counts, Failure> {
    let mut runtime = Runtime::builder();
    if let Some(workers) = options.workers {
        runtime = runtime.workers(workers);
    }
    if let Mode::Aio = options.mode {
        runtime = runtime.tuning(aio::tuning());
    }
    runtime.build()?.run(serve(options, listener, addr))
}

/// Serves, and prints the address, if there is one, when it does.
async fn serve(
    options: Options,
    listener: net::TcpListener,
    addr: Option<SocketAddr>,
) -> Result<Counts, Failure> {
    let first = TcpListener::from_std(listener)?;
    let mut listeners = vec![first];
    if options.listeners_each {
        // The first one has kept the address for them. It is closed before the site starts helpers: a process that begins
        // has the descriptors of this one for a moment, and with them the connections that the system gave to that listener.
        listeners = TcpListener::bind_per_worker(listeners[0].local_addr()?).await?;
    }
    let site = Arc::new(site(&options).await?);
    let mut servers = JoinSet::new();
    for listener in listeners {
        let (site, options, stop) = (Arc::clone(&site), options.clone(), asked_to_stop()?);
        servers.spawn(async move { serve_site(listener, &site, &options, stop).await });
    }
    if let Some(addr) = addr {
        println!("listening on http://{addr}");
    }
    while let Some(served) = servers.join_next().await {
        served.unwrap_or_else(|error| resume_unwind(error.into_panic()))?;
    }
    Ok(site.cache.counts().await)
}

async fn site(options: &Options) -> io::Result<Site> {
    let access = match options.mode {
        Mode::Lazy => Access::Lazy,
        Mode::Blocking => Access::Blocking,
        Mode::Pool => Access::Pool,
        Mode::Aio => Access::Aio,
        Mode::Amped => {
            let helpers = Helpers::start(options.helpers)?;
            println!("helpers {:?}", helpers.processes().await);
            Access::Amped(helpers)
        }
    };
    let color = match options.coloring {
        Coloring::Colored => Color::unique,
        Coloring::Serial => || Color::DEFAULT,
    };
    Ok(Site {
        roots: options.roots.clone(),
        access: Arc::new(access),
        cache: Cache::new(options.shards, options.limits, color),
    })
}
