//! Servers of files as processes: [`Kind`], [`Server`].

mod apache;
mod cpu;
mod group;
mod measure;
mod nginx;
mod quota;

pub use self::group::{Group, Limits};
pub use self::measure::{Measured, median};
pub use self::quota::Quota;

use rustix::process::{Pid, Signal, kill_process};
use std::fmt;
use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

/// A server of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The example `httpd`, which reaches its files in one of five ways, and reads what it sends; or `sendfile`: its way
    /// `lazy`, which leaves large files to the system.
    Httpd(&'static str),
    /// nginx, with `sendfile` and its cache of open files.
    Nginx,
    /// tokio, hyper and `ServeDir` of `tower-http`.
    ServeDir,
    /// Apache by one of its models, `event` or `prefork`. Not among [`Kind::ALL`].
    Apache(&'static str),
}

impl Kind {
    /// Those that `fileservers` compares.
    pub const ALL: [Kind; 8] = [
        Kind::Httpd("lazy"),
        Kind::Httpd("sendfile"),
        Kind::Httpd("blocking"),
        Kind::Httpd("pool"),
        Kind::Httpd("aio"),
        Kind::Httpd("amped"),
        Kind::Nginx,
        Kind::ServeDir,
    ];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Kind::Httpd(mode) => mode,
            Kind::Nginx => "nginx",
            Kind::ServeDir => "servedir",
            Kind::Apache(model) => return write!(f, "apache-{model}"),
        })
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        let names: Vec<String> = Kind::ALL.iter().map(Kind::to_string).collect();
        let place = names.iter().position(|name| name == text);
        place
            .map(|place| Kind::ALL[place])
            .ok_or_else(|| format!("the server is {text:?}; allowed is {}", names.join(" or ")))
    }
}

/// How to run a server.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The directory that it serves.
    pub root: PathBuf,
    /// The number of its threads or processes.
    pub workers: usize,
    /// Whether a connection carries several requests.
    pub keep_alive: bool,
    /// More options for `httpd`.
    pub httpd: Vec<String>,
    /// Control groups that it joins before it begins: directories with a file `cgroup.procs`.
    pub groups: Vec<PathBuf>,
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
    /// Removed at the end.
    scratch: Option<PathBuf>,
}

/// The time that a server has to begin or to end.
const PATIENCE: Duration = Duration::from_secs(20);

impl Server {
    /// Starts a server, and waits until it listens.
    ///
    /// # Errors
    ///
    /// If its program is missing, or it does not listen for 20 seconds.
    pub fn start(kind: Kind, setup: &Setup) -> io::Result<Server> {
        // Nobody else takes the port in between, on a machine that does nothing else.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let keep_alive = if setup.keep_alive { "on" } else { "off" };
        let workers = setup.workers.to_string();
        let mut scratch = None;
        let mut words: Vec<std::ffi::OsString> = Vec::new();
        match kind {
            Kind::Httpd(mode) => {
                words.push(beside("httpd", "-p httpd")?.into());
                words.extend(["--root".into(), setup.root.clone().into_os_string()]);
                let addr = address.to_string();
                // In the modes that are compared with each other, all do the same with a body.
                let (fs, sendfile) =
                    if mode == "sendfile" { ("lazy", "on") } else { (mode, "off") };
                let options = [
                    "--addr",
                    &addr,
                    "--fs",
                    fs,
                    "--sendfile",
                    sendfile,
                    "--workers",
                    &workers,
                    "--keepalive",
                    keep_alive,
                ];
                words.extend(options.map(Into::into));
                words.extend(setup.httpd.iter().map(Into::into));
            }
            Kind::Nginx => {
                let directory = nginx::prepare(address, setup)?;
                words.extend(["nginx".into(), "-p".into(), directory.clone().into_os_string()]);
                words.extend(["-c".into(), directory.join("nginx.conf").into_os_string()]);
                scratch = Some(directory);
            }
            Kind::ServeDir => {
                words.push(beside("servedir", "-p colored-papers --bin servedir")?.into());
                words.extend([address.to_string().into(), setup.root.clone().into_os_string()]);
                words.extend([workers.into(), keep_alive.into()]);
            }
            Kind::Apache(model) => {
                let directory = apache::prepare(model, address, setup)?;
                words.extend(["apache2".into(), "-D".into(), "FOREGROUND".into(), "-f".into()]);
                words.push(directory.join("apache.conf").into_os_string());
                scratch = Some(directory);
            }
        }
        // The shell joins the groups, so that all processes of the server are in them.
        let join = "while [ \"$1\" != -- ]; do echo $$ > \"$1/cgroup.procs\" || exit 1; shift; done; \
                    shift; exec \"$@\"";
        let mut command = Command::new("sh");
        if matches!(kind, Kind::Apache(_)) {
            // It ends its process group, which is that of this program otherwise.
            command.process_group(0);
        }
        let child = command
            .args(["-c", join, "sh"])
            .args(&setup.groups)
            .arg("--")
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        let mut server = Server { child, address, scratch };
        server.wait_for_listener(kind)?;
        Ok(server)
    }

    fn wait_for_listener(&mut self, kind: Kind) -> io::Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if TcpStream::connect(self.address).is_ok() {
                return Ok(());
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(io::Error::other(format!("{kind} ended before it listened: {status}")));
            }
            thread::sleep(Duration::from_millis(10));
        }
        Err(io::Error::other(format!("{kind} does not listen on {}", self.address)))
    }

    /// The CPU time, user and system, of its processes so far.
    ///
    /// # Errors
    ///
    /// If the system does not tell.
    pub fn cpu(&self) -> io::Result<Duration> {
        cpu::of_tree(self.child.id())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _it_may_have_ended = kill_process(pid, Signal::TERM);
        }
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE && !matches!(self.child.try_wait(), Ok(Some(_))) {
            thread::sleep(Duration::from_millis(5));
        }
        let _it_may_have_ended = self.child.kill();
        let _it_has = self.child.wait();
        if let Some(scratch) = &self.scratch {
            let _nothing_depends_on_it = std::fs::remove_dir_all(scratch);
        }
    }
}

/// Takes the files out of the page cache, where the file system allows it.
///
/// # Errors
///
/// If a file cannot be opened.
pub fn evict(root: &Path, files: impl IntoIterator<Item = u32>) -> io::Result<()> {
    for file in files {
        let file = File::open(root.join(crate::place::path(file)))?;
        file.sync_all()?;
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    }
    Ok(())
}

/// A program that cargo has built beside this one.
fn beside(name: &str, build: &str) -> io::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(name);
    if path.is_file() {
        return Ok(path);
    }
    let text = format!("{} is missing: `cargo build --release {build}` builds it", path.display());
    Err(io::Error::new(io::ErrorKind::NotFound, text))
}
