//! Processes that end with this one.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

/// A free port of the loopback interface. It is given once: it is free until its server listens, and while that is down. The
/// system gives it to no client: else a client could have the port then.
pub(crate) fn free_port() -> u16 {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    loop {
        let port = fastrand::u16(15_000..32_000);
        let is_new = GIVEN.lock().expect("no holder panics").insert(port);
        if is_new && TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// What `crates/consumer/fetch-servers` has brought by this name; `None` if it may be missing, and is.
///
/// # Panics
///
/// If it is missing, and may not be.
#[must_use]
pub fn find(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/servers").join(name);
    if path.exists() {
        return Some(path);
    }
    assert!(
        std::env::var_os("COLORED_ALL_PROGRAMS").is_none(),
        "{} is not there: crates/consumer/fetch-servers brings it",
        path.display()
    );
    eprintln!("crates/consumer/fetch-servers was not run: nothing is tested");
    None
}

/// Kills the process when its standard input ends, as it does when this process ends in whatever way, waits until it has
/// given its port back, and removes its files.
const GUARD: &str = r#""$@" </dev/null >>"$FILES/log" 2>&1 &
echo $!
read -r word
kill -9 $! 2>/dev/null
wait $! 2>/dev/null
[ "$word" = keep ] || rm -rf "$FILES""#;

/// A server. It is killed when this process ends.
#[derive(Debug)]
pub(crate) struct Server {
    guard: Child,
}

impl Server {
    /// Starts a program, whose output goes to the file `log` in its directory.
    pub(crate) fn start(program: &Path, arguments: &[String], directory: &Path) -> Server {
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "sh"])
            .arg(program)
            .args(arguments)
            .env("FILES", directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("there is a shell");
        let output = guard.stdout.take().expect("it is piped");
        let mut pid = String::new();
        BufReader::new(output).read_line(&mut pid).expect("the shell says it");
        Server { guard }
    }

    /// Kills it at once; its files stay.
    pub(crate) fn kill(&mut self) {
        if let Some(mut input) = self.guard.stdin.take() {
            // If the shell is gone, so is the server.
            let _ = input.write_all(b"keep\n");
        }
        let _ = self.guard.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}
