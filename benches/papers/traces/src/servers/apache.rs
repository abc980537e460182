//! The configuration of Apache.

use super::Setup;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::{env, fs, process};

/// Where Debian and its like have the modules.
const MODULES: &str = "/usr/lib/apache2/modules";

/// Writes the configuration into a directory of its own. `model` is `event` or `prefork`.
pub(super) fn prepare(model: &str, address: SocketAddr, setup: &Setup) -> io::Result<PathBuf> {
    let directory = env::temp_dir().join(format!("apache-{}-{}", process::id(), address.port()));
    fs::create_dir_all(&directory)?;
    let root = fs::canonicalize(&setup.root)?;
    let keep_alive = if setup.keep_alive { "On" } else { "Off" };
    let workers = setup.workers;
    let limits = match model {
        // A worker is a process here. With fewer threads than clients it closes connections whenever all are busy.
        "event" => format!(
            "ServerLimit {workers}
StartServers {workers}
ThreadLimit 1024
ThreadsPerChild 1024
MaxRequestWorkers {threads}
MinSpareThreads 1
MaxSpareThreads {threads}
",
            threads = workers * 1024,
        ),
        // A connection takes a process, for its whole life; so many had the first paper.
        _ => "ServerLimit 32
StartServers 32
MinSpareServers 32
MaxSpareServers 32
MaxRequestWorkers 32
"
        .to_owned(),
    };
    let text = format!(
        "ServerRoot \"{here}\"
ServerName localhost
DefaultRuntimeDir \"{here}\"
PidFile \"{here}/pid\"
ErrorLog \"{here}/errors\"
LogLevel crit
Listen {address}
ListenBacklog 2048
LoadModule mpm_{model}_module {MODULES}/mod_mpm_{model}.so
LoadModule authz_core_module {MODULES}/mod_authz_core.so
User www-data
Group www-data
{limits}MaxConnectionsPerChild 0
KeepAlive {keep_alive}
KeepAliveTimeout 75
MaxKeepAliveRequests 0
EnableSendfile On
HostnameLookups Off
DocumentRoot \"{root}\"
<Directory \"{root}\">
Options FollowSymLinks
AllowOverride None
Require all granted
</Directory>
",
        here = directory.display(),
        root = root.display(),
    );
    fs::write(directory.join("apache.conf"), text)?;
    Ok(directory)
}
