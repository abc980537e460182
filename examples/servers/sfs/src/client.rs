//! A client with a cache, which it may read while it has leases.
//!
//! A read that finds its data in the cache asks nobody: the server calls the cache back before the data change, or waits until
//! the lease has expired. The client counts a lease from before it has asked for it, and a tenth shorter, so its clock may
//! be slower than the server's by as much.

mod cache;
mod commands;
mod link;
mod reading;
mod target;
mod writing;

pub use self::cache::{Counts, Listed};
pub use self::commands::{cat, copy, hash, list, watch};
pub use self::target::Target;

use self::cache::Cache;
use self::link::Link;
use crate::keys::Identity;
use crate::lease_protocol::{self, FileArgs, TakeAnswer};
use crate::refused::Refused;
use crate::settings::Mistake;
use colored::time::{Duration, Instant};
use colored::{Color, ColorCell};
use nfs3_types::nfs3::{Nfs3Result, fattr3, nfs_fh3};
use nfs3_types::xdr_codec::{Pack, Unpack, Void};
use ring::rand::{SecureRandom, SystemRandom};
use std::fmt;
use std::io;

/// What a request of the client ends with.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a request has failed.
#[derive(Debug)]
pub enum Error {
    /// The server refuses it.
    Refused(Refused),
    /// The server was not reached in time, or it speaks another protocol.
    Link(io::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(refused) => write!(f, "the server answers {refused}"),
            Error::Link(error) => write!(f, "no answer of the server: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::Link(error)
    }
}

fn granted<T, E>(answer: Nfs3Result<T, E>) -> Result<T> {
    match answer {
        Nfs3Result::Ok(answer) => Ok(answer),
        Nfs3Result::Err((status, _)) => Err(Error::Refused(Refused(status))),
    }
}

/// How a client behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// For how long a request is tried again, also on new connections.
    pub patience: Duration,
    /// What the client does wrong, for tests of tests.
    pub mistake: Option<Mistake>,
    /// The number of the user who asks.
    pub user: u32,
    /// The number of the client: no two that run have the same one.
    pub client: [u8; 16],
}

impl Default for Options {
    /// A minute of patience, the user of this process, and a random number.
    fn default() -> Self {
        let user = rustix::process::geteuid().as_raw();
        let mut client = [0; 16];
        SystemRandom::new().fill(&mut client).expect("the system has random numbers");
        Options { patience: Duration::from_secs(60), mistake: None, user, client }
    }
}

/// A client of one server. It connects again when its connection breaks.
#[derive(Debug)]
pub struct Client {
    link: Link,
    cache: ColorCell<Cache>,
    ignores_verifiers: bool,
}

impl Client {
    /// A client of the server at this place, with this key of its own. Connects with the first request.
    pub fn new(target: &Target, identity: &Identity, options: &Options) -> Client {
        let is_mistaken = options.mistake == Some(Mistake::ReadsBehindTheLease);
        let cache = ColorCell::new(Color::unique(), Cache::new(is_mistaken));
        let link = Link::new(target, identity, options, cache.clone());
        let ignores_verifiers = options.mistake == Some(Mistake::IgnoresTheVerifier);
        Client { link, cache, ignores_verifiers }
    }

    /// How often the cache had what was asked for.
    pub async fn counts(&self) -> Counts {
        self.cache.call(|cache| cache.counts).await
    }

    /// Gives all leases back, so that no writer waits for this client, and ends the connection.
    ///
    /// # Errors
    ///
    /// If the server was not reached; then the leases expire.
    pub async fn close(self) -> Result<()> {
        let (program, version) = (lease_protocol::PROGRAM, lease_protocol::VERSION);
        self.link.call::<_, Void>(program, version, lease_protocol::GIVE_ALL_BACK, &Void).await?;
        Ok(())
    }

    async fn nfs<A: Pack + Sync, R: Unpack, E: Unpack>(
        &self,
        procedure: u32,
        args: &A,
    ) -> Result<R> {
        let (program, version) = (nfs3_types::nfs3::PROGRAM, nfs3_types::nfs3::VERSION);
        granted(self.link.call::<A, Nfs3Result<R, E>>(program, version, procedure, args).await?)
    }

    /// Takes the lease of a file, unless more than a quarter of one is left.
    async fn renew(&self, file: &nfs_fh3) -> Result<()> {
        let (asked, enough) = (file.clone(), self.link.lease() / 4);
        let left = self.cache.call(move |cache| cache.left(&asked, Instant::now())).await;
        if left <= enough {
            self.take(file).await?;
        }
        Ok(())
    }

    /// Takes or renews the lease of a file. Returns the attributes.
    async fn take(&self, file: &nfs_fh3) -> Result<fattr3> {
        let asked = file.clone();
        let (sent, generation) =
            self.cache.call(move |cache| (Instant::now(), cache.generation(&asked))).await;
        let args = FileArgs { file: file.clone() };
        let (program, version) = (lease_protocol::PROGRAM, lease_protocol::VERSION);
        let answer: TakeAnswer =
            self.link.call(program, version, lease_protocol::TAKE, &args).await?;
        let taken = granted(answer)?;
        if taken.is_leased {
            let lease = self.link.lease();
            let until = sent + (lease - lease / 10);
            let (file, attributes) = (args.file, taken.attributes.clone());
            self.cache
                .call(move |cache| {
                    cache.note_lease(&file, generation, until, attributes, Instant::now())
                })
                .await;
        }
        Ok(taken.attributes)
    }
}
