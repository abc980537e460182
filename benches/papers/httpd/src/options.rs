//! [`Options`]: the command line.

use crate::cache::Limits;
use crate::roots::Roots;
use colored::time::Duration;
use colored_examples_common::{Args, Failure};

const USAGE: &str = "httpd [--root DIR|/PREFIX=DIR]... [--addr HOST:PORT] [--workers N] [--copies N] \
    [--listeners one|each] [--coloring colored|serial] [--fs lazy|blocking|pool|aio|amped] \
    [--sendfile on|off] [--keepalive on|off] [--helpers N] [--shards N] [--cache-mib N] \
    [--open-files N] [--recheck-ms N] [--steps on|off]";

/// How the server reaches its files.
#[derive(Clone, Copy)]
pub(crate) enum Mode {
    Lazy,
    Blocking,
    Pool,
    Aio,
    Amped,
}

const MODES: [(&str, Mode); 5] = [
    ("lazy", Mode::Lazy),
    ("blocking", Mode::Blocking),
    ("pool", Mode::Pool),
    ("aio", Mode::Aio),
    ("amped", Mode::Amped),
];

/// Which steps may run at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coloring {
    /// A color for each connection and for each shard of the cache.
    Colored,
    /// One color for everything, as in a program with one thread.
    Serial,
}

const COLORINGS: [(&str, Coloring); 2] =
    [("colored", Coloring::Colored), ("serial", Coloring::Serial)];

const SWITCH: [(&str, bool); 2] = [("on", true), ("off", false)];

#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) addr: String,
    pub(crate) roots: Roots,
    /// The threads of each copy. `None` is one for each core.
    pub(crate) workers: Option<usize>,
    /// Servers that share nothing but the address.
    pub(crate) copies: usize,
    /// Whether each worker of a copy has a listener.
    pub(crate) listeners_each: bool,
    pub(crate) coloring: Coloring,
    pub(crate) mode: Mode,
    /// Whether the connection sends what is in the system's memory without reading it, if the mode is lazy.
    pub(crate) sendfile: bool,
    pub(crate) keep_alive: bool,
    pub(crate) helpers: usize,
    pub(crate) shards: usize,
    pub(crate) limits: Limits,
    /// Whether to print the steps of requests with their colors.
    pub(crate) steps: bool,
}

impl Options {
    pub(crate) fn from_command_line() -> Result<Options, Failure> {
        let mut args = Args::from_command_line(USAGE);
        let mut roots = Vec::new();
        while let Some(root) = args.value("--root", "a directory, or /PREFIX=DIR")? {
            roots.push(root);
        }
        if roots.is_empty() {
            roots.push(String::from("."));
        }
        let roots = Roots::parse(&roots).map_err(|text| args.mistake(text))?;
        let addr = args.value("--addr", "an address and a port, such as 127.0.0.1:8080")?;
        let mebibytes: usize = args.number("--cache-mib", 0..=1 << 20)?.unwrap_or(64);
        let files = args.number("--open-files", 0..=1 << 20)?.unwrap_or(512);
        let recheck = args.number("--recheck-ms", 0..=86_400_000)?.unwrap_or(1000);
        let recheck = Duration::from_millis(recheck);
        let options = Options {
            addr: addr.unwrap_or(String::from("127.0.0.1:8080")),
            roots,
            workers: args.value("--workers", "a number of threads, such as 2")?,
            copies: args.number("--copies", 1..=64)?.unwrap_or(1),
            listeners_each: args
                .choice("--listeners", &[("one", false), ("each", true)])?
                .unwrap_or(false),
            coloring: args.choice("--coloring", &COLORINGS)?.unwrap_or(Coloring::Colored),
            mode: args.choice("--fs", &MODES)?.unwrap_or(Mode::Lazy),
            sendfile: args.choice("--sendfile", &SWITCH)?.unwrap_or(true),
            keep_alive: args.choice("--keepalive", &SWITCH)?.unwrap_or(true),
            helpers: args.number("--helpers", 1..=256)?.unwrap_or(8),
            shards: args.number("--shards", 1..=1024)?.unwrap_or(10),
            limits: Limits { bytes: mebibytes << 20, files, recheck },
            steps: args.choice("--steps", &SWITCH)?.unwrap_or(false),
        };
        args.end()?;
        Ok(options)
    }
}
