//! Servers under the policies of the papers, which the default server is compared with.

use crate::flat;
use colored::Builder;
use colored::runtime::Tuning;
use colored_benches::http::numbered::{self, Model};
use colored_benches::http::raise_open_files;
use colored_benches::http::server::{self, Kind};
use colored_benches::http::wire::Wire;
use colored_lab::{First, Place, Places, Queues};
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, available_parallelism};

/// The name of [`Model::Watched`] without stealing: each color stays on the worker that has run it first.
pub const HOME: &str = "numbered:home";

/// Serves as [`HOME`] until standard input ends.
///
/// # Errors
///
/// As for [`numbered::main`].
pub fn serve_at_home() -> io::Result<()> {
    let workers = available_parallelism()?.get();
    let policy = &Places { place: Place::Home, steals: false };
    let builder = Builder::new().workers(workers).tuning(Tuning::new().policy(policy));
    numbered::main_on(Model::Watched, workers, builder)
}

/// How a server of a file runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// `colored` without stealing. A connection stays on the worker of its color's number, as in
    /// libasync-smp: otherwise all would be on one worker.
    NoSteal,
    /// The same handlers on [flat queues](flat), with stealing by a walk through the queues.
    Naive,
    /// The same without stealing.
    NaiveNoSteal,
}

impl Way {
    /// The way of this name on a command line.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        [Way::NoSteal, Way::Naive, Way::NaiveNoSteal].into_iter().find(|way| way.name() == name)
    }

    const fn name(self) -> &'static str {
        match self {
            Way::NoSteal => "colored_no_steal",
            Way::Naive => "naive",
            Way::NaiveNoSteal => "naive_no_steal",
        }
    }

    /// The server of this way, for a row.
    #[must_use]
    pub const fn kind(self) -> Kind {
        Kind::Elsewhere(self.name())
    }
}

/// Serves the file until standard input ends: at `path`, or at a free port.
///
/// # Errors
///
/// If the limit of open files cannot be raised, or a pipe breaks.
///
/// # Panics
///
/// If nothing can be bound, or the runtime does not start.
pub fn serve_file(way: Way, workers: usize, path: Option<PathBuf>) -> io::Result<()> {
    raise_open_files()?;
    let (send, port) = channel();
    thread::spawn(move || {
        let path = path.as_deref();
        let steals = match way {
            Way::NoSteal => {
                let policy = &Places { place: Place::Number, steals: false };
                let builder = Builder::new().workers(workers).tuning(Tuning::new().policy(policy));
                return server::serve_file_on(builder, path, &send);
            }
            Way::Naive => true,
            Way::NaiveNoSteal => false,
        };
        let queues = Queues::PerWorker { first: First::Number, steals };
        serve_flat(workers, queues, path, &send).expect("the file is served");
    });
    server::answer(port.recv().expect("the server listens"))
}

fn serve_flat(
    workers: usize,
    queues: Queues,
    path: Option<&Path>,
    port: &Sender<u16>,
) -> io::Result<()> {
    if let Some(path) = path {
        let listener = UnixListener::bind(path)?;
        port.send(0).expect("main waits");
        return flat::serve(workers, queues, || Wire::unix(listener.accept()?.0));
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    port.send(listener.local_addr()?.port()).expect("main waits");
    flat::serve(workers, queues, || Wire::tcp(listener.accept()?.0))
}
