//! A server process, as its parent sees it.

use super::server::Kind;
use super::wire::{Address, Family};
use std::io::{self, BufRead, BufReader, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{env, fs};

/// A running server. Dropping it ends the process, and so does the end of this process.
#[derive(Debug)]
pub struct Server {
    /// The address at which it listens.
    pub address: Address,
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Server {
    /// Starts `program` as a server of the given kind and waits until it listens.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or ends before it listens.
    pub fn start(program: &Path, kind: Kind, workers: usize, family: Family) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args([kind.name(), &workers.to_string()]);
        let path = (family == Family::Unix).then(free_path);
        command.args(&path);
        Self::spawn(command, path)
    }

    /// Starts a server that listens at `path`, or at a free port if there is none, and speaks to its
    /// parent as [`server::main`](super::server::main) does.
    ///
    /// # Errors
    ///
    /// As for [`Server::start`].
    pub fn spawn(mut command: Command, path: Option<PathBuf>) -> io::Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let requests = process.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let answers = process.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let address = Address::Unix(path.clone().unwrap_or_default());
        let mut server = Self { address, process, requests, answers: BufReader::new(answers) };
        let port = server.answer("PORT")?;
        if path.is_none() {
            let port = u16::try_from(port).map_err(io::Error::other)?;
            server.address = Address::Tcp((Ipv4Addr::LOCALHOST, port).into());
        }
        Ok(server)
    }

    /// The number of the server's process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// User and system time of the server's process so far.
    ///
    /// # Errors
    ///
    /// If the server is gone.
    pub fn cpu_time(&mut self) -> io::Result<Duration> {
        self.ask("CPU").map(Duration::from_nanos)
    }

    /// A number of the server's, by the word for it.
    ///
    /// # Errors
    ///
    /// If the server is gone, or does not know the word.
    pub fn ask(&mut self, word: &str) -> io::Result<u64> {
        writeln!(self.requests, "{word}")?;
        self.answer(word)
    }

    /// How often the server's threads have given up a core to wait, so far.
    ///
    /// # Errors
    ///
    /// If the system does not say.
    pub fn switches(&self) -> io::Result<u64> {
        let mut sum = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.process.id()))? {
            let status = fs::read_to_string(thread?.path().join("status"))?;
            let count =
                status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
            sum += count.and_then(|count| count.trim().parse::<u64>().ok()).unwrap_or(0);
        }
        Ok(sum)
    }

    fn answer(&mut self, word: &str) -> io::Result<u64> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        line.strip_prefix(word)
            .and_then(|number| number.trim().parse().ok())
            .ok_or_else(|| io::Error::other(format!("the server said {line:?}, not {word}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only if the process has already ended, which is the aim.
        let _ = self.process.kill();
        let _ = self.process.wait();
        if let Address::Unix(path) = &self.address {
            // The file does not exist if the server never listened.
            let _ = fs::remove_file(path);
        }
    }
}

/// A path for a server to listen at.
fn free_path() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Ordering: the number only has to be unique.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = env::temp_dir().join(format!("colored-bench-{}-{number}", std::process::id()));
    // The file may be left from a killed process that had this number.
    let _ = fs::remove_file(&path);
    path
}
