//! The commands of the program.

use crate::client::Client;
use crate::demo;
use crate::error::Error;
use crate::id::Id;
use crate::process::Process;
use crate::settings::Settings;
use crate::tree::{Tree, publish};
use crate::value::Signer;
use colored::io::{self, AsyncReadExt};
use colored::time::{Duration, timeout};
use std::fmt;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const USAGE: &str = "chord demo
    10 processes with 10 nodes each on loopback: look-ups with lost packets; a published directory that survives kill -9
chord node [--listen ADDRESS] [--nodes N] [--by ADDRESS]...
    a process with N nodes (10), in the ring of the given processes, or in a new one; it leaves when its input ends
chord publish --by ADDRESS [--secret FILE] DIRECTORY
    signs the files of a directory with the secret, which is made if there is none (chord.secret), and prints the key
chord get --by ADDRESS KEY[/PATH] TARGET
    writes a published file or directory to TARGET, which must not exist";

/// An address on loopback, with a port that the system chooses.
pub(crate) const ANY_PORT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);

/// Blocks that are read at a time.
pub(crate) const AHEAD: usize = 16;

/// How long nodes take to hand over their values, at most.
const MAX_LEAVE: Duration = Duration::from_secs(10);

/// Why a command has failed.
#[derive(Debug)]
pub enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// The work of the command failed.
    Error(Error),
    /// A promise is broken.
    Broken(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what) => write!(f, "{what}\n{USAGE}"),
            Self::Error(error) => error.fmt(f),
            Self::Broken(promise) => write!(f, "broken: {promise}"),
        }
    }
}

impl std::error::Error for Failure {}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// Runs the command of these arguments. Not cancel safe: as each command.
///
/// # Errors
///
/// If the arguments are wrong, or the command fails.
pub async fn run(arguments: Vec<String>) -> Result<(), Failure> {
    let mut options = Options::parse(arguments)?;
    let command = options.take_word("a command")?;
    match command.as_str() {
        "demo" => {
            options.end()?;
            demo::run().await
        }
        "node" => serve(options).await,
        "publish" => publish_directory(options).await,
        "get" => get(options).await,
        _ => Err(Failure::Usage(format!("there is no command {command:?}"))),
    }
}

/// What a command line says.
struct Options {
    by: Vec<SocketAddrV4>,
    listen: SocketAddrV4,
    nodes: u16,
    secret: String,
    words: std::vec::IntoIter<String>,
}

impl Options {
    fn parse(arguments: Vec<String>) -> Result<Self, Failure> {
        let (mut by, mut words) = (Vec::new(), Vec::new());
        let (mut listen, mut nodes, mut secret) = (ANY_PORT, 10, "chord.secret".to_owned());
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let wrong =
                |value: &str| Failure::Usage(format!("{argument}: not allowed is {value:?}"));
            let mut value = || arguments.next().ok_or_else(|| wrong("nothing"));
            match argument.as_str() {
                "--by" => by.push(parse(&value()?).ok_or_else(|| wrong("another address"))?),
                "--listen" => {
                    // Nothing here knows who may talk to a node: it stays on this machine.
                    let address: Option<SocketAddrV4> = parse(&value()?);
                    let address = address.filter(|address| address.ip().is_loopback());
                    listen = address.ok_or_else(|| wrong("an address that is not on loopback"))?;
                }
                "--nodes" => {
                    let number = parse(&value()?).filter(|nodes| (1..=1000).contains(nodes));
                    nodes = number.ok_or_else(|| wrong("another number than 1 to 1000"))?;
                }
                "--secret" => secret = value()?,
                other if other.starts_with("--") => return Err(wrong("this option")),
                _ => words.push(argument),
            }
        }
        Ok(Self { by, listen, nodes, secret, words: words.into_iter() })
    }

    fn take_word(&mut self, what: &str) -> Result<String, Failure> {
        self.words.next().ok_or_else(|| Failure::Usage(format!("{what} is missing")))
    }

    fn end(&mut self) -> Result<(), Failure> {
        match self.words.next() {
            Some(word) => Err(Failure::Usage(format!("there is no place for {word:?}"))),
            None => Ok(()),
        }
    }

    async fn client(&self) -> Result<Client, Failure> {
        if self.by.is_empty() {
            return Err(Failure::Usage("--by is missing: the address of a process".to_owned()));
        }
        Ok(Client::bind(ANY_PORT, &self.by, Settings::default()).await?)
    }
}

fn parse<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// A process, until its input ends.
async fn serve(mut options: Options) -> Result<(), Failure> {
    options.end()?;
    let Options { listen, nodes, by, .. } = options;
    let process = Process::bind(listen, nodes, &by, Settings::default()).await?;
    for number in 0..nodes {
        if number == 0 && by.is_empty() {
            process.begin(0).await;
        } else {
            process.join(number).await?;
        }
    }
    println!("{}", process.address());
    let mut ignored = [0; 1024];
    let mut input = io::stdin();
    while input.read(&mut ignored).await? > 0 {}
    let leaving = async {
        for number in 0..nodes {
            process.leave(number).await;
        }
    };
    // The other replicas are there in any case.
    let _ = timeout(MAX_LEAVE, leaving).await;
    Ok(())
}

async fn publish_directory(mut options: Options) -> Result<(), Failure> {
    let directory = options.take_word("a directory")?;
    options.end()?;
    let client = options.client().await?;
    let signer = Signer::from_secret(&secret_of(Path::new(&options.secret))?);
    let published = publish(&client, &signer, Path::new(&directory)).await?;
    println!("{}", published.key);
    Ok(())
}

/// The secret in a file, which is made if there is none, for its owner alone.
fn secret_of(path: &Path) -> Result<[u8; 32], Error> {
    match std::fs::read_to_string(path) {
        Ok(text) => {
            let secret: Result<Id, _> = text.trim().parse();
            let error = |_| io::Error::new(ErrorKind::InvalidData, "the file holds no secret");
            Ok(secret.map_err(error)?.to_bytes())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let secret = Signer::new_secret();
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
            writeln!(file, "{}", Id::from_bytes(secret))?;
            Ok(secret)
        }
        Err(error) => Err(error.into()),
    }
}

async fn get(mut options: Options) -> Result<(), Failure> {
    let place = options.take_word("a key")?;
    let target = options.take_word("a target")?;
    options.end()?;
    let (key, path) = place.split_once('/').unwrap_or((&place, ""));
    let key: Id = key.parse().map_err(Failure::Usage)?;
    let client = options.client().await?;
    let tree = Tree::open(&client, key, AHEAD).await?;
    let bytes = tree.save(path, Path::new(&target)).await?;
    println!("{bytes} bytes, of record {}", tree.sequence());
    Ok(())
}
