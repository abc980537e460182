//! The configuration of nginx.

use super::Setup;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::{env, fs, process};

/// Writes the configuration into a directory of its own.
pub(super) fn prepare(address: SocketAddr, setup: &Setup) -> io::Result<PathBuf> {
    let directory =
        env::temp_dir().join(format!("fileservers-{}-{}", process::id(), address.port()));
    fs::create_dir_all(&directory)?;
    let root = fs::canonicalize(&setup.root)?;
    let timeout = if setup.keep_alive { 75 } else { 0 };
    let text = format!(
        "daemon off;
pid nginx.pid;
error_log stderr crit;
worker_processes {workers};
worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=4096 inactive=60s;
    open_file_cache_valid 1s;
    keepalive_requests 1000000000;
    keepalive_timeout {timeout};
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {{ listen {address} backlog=2048; root \"{root}\"; }}
}}
",
        workers = setup.workers,
        root = root.display(),
    );
    fs::write(directory.join("nginx.conf"), text)?;
    Ok(directory)
}
