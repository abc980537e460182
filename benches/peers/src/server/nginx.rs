//! nginx, if it is installed: as many worker processes as the others have workers.

use super::{HELLO, free_port};
use crate::setup::workers;
use colored_benches::http::wire::Address;
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{env, fs, io, process, thread};

/// Starts nginx, and ends it when the standard input ends: with this process, whatever ends that.
const SCRIPT: &str = "nginx -c \"$1/nginx.conf\" -e \"$1/errors\" & read -r line; kill $!; wait";

/// A running nginx. Dropping it ends its processes.
pub(crate) struct Nginx {
    shell: Child,
    folder: PathBuf,
    pub(crate) address: Address,
}

impl Nginx {
    pub(crate) fn start() -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Ordering: the number only has to be unique.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("colored-nginx-{}-{number}", process::id()));
        fs::create_dir_all(&folder)?;
        let port = free_port()?;
        let text = configuration(&folder.display().to_string(), port);
        fs::write(folder.join("nginx.conf"), text)?;
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT, "sh"]).arg(&folder).stdin(Stdio::piped());
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let nginx = Self { shell: shell.spawn()?, folder, address: Address::Tcp(address) };
        for _ in 0..200 {
            let all = nginx.processes().is_ok_and(|all| all.len() == workers());
            if all && TcpStream::connect(address).is_ok() {
                return Ok(nginx);
            }
            thread::sleep(Duration::from_millis(10));
        }
        Err(io::Error::other("nginx does not listen"))
    }

    /// The time that its workers have run so far.
    pub(crate) fn cpu_time(&self) -> io::Result<Duration> {
        let mut sum = 0;
        for worker in self.processes()? {
            // Nanoseconds on a core come first; a worker has one thread.
            let text = fs::read_to_string(format!("/proc/{worker}/schedstat"))?;
            let first = text.split_whitespace().next().and_then(|text| text.parse::<u64>().ok());
            sum += first.ok_or(io::ErrorKind::InvalidData)?;
        }
        Ok(Duration::from_nanos(sum))
    }

    /// Its workers.
    pub(crate) fn processes(&self) -> io::Result<Vec<u32>> {
        let master = fs::read_to_string(self.folder.join("pid"))?;
        let master = master.trim();
        let text = fs::read_to_string(format!("/proc/{master}/task/{master}/children"))?;
        Ok(text.split_whitespace().filter_map(|text| text.parse().ok()).collect())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // The shell waits for nginx. It fails only if the shell has already ended.
        let _ = self.shell.wait();
        // What is left is in the folder for temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn configuration(folder: &str, port: u16) -> String {
    let workers = workers();
    format!(
        "daemon off;
pid {folder}/pid;
error_log {folder}/errors;
worker_processes {workers};
worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    keepalive_requests 1000000000;
    keepalive_timeout 120s;
    server {{
        listen 127.0.0.1:{port} reuseport;
        location / {{ return 200 '{HELLO}'; }}
    }}
}}
"
    )
}

/// The version, or why there is none.
pub(crate) fn version() -> io::Result<String> {
    let output = Command::new("nginx").arg("-v").output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let version = text.trim().rsplit('/').next().unwrap_or_default();
    Ok(version.to_owned())
}
