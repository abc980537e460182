//! Debian's libnfs by TLS, through stunnel, which has a key of its own and pins the server's.

use super::foreign::copy_and_read;
use super::{Outcome, Stage};
use crate::keys::Identity;
use colored::net::{TcpListener, TcpStream};
use colored::process::{Child, Command, Stdio};
use colored::time::{Duration, sleep};
use std::fs;
use std::io;
use std::path::Path;

pub(super) async fn run(stage: &Stage) -> Outcome {
    println!("libnfs through stunnel, by TLS 1.3:");
    let port = TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port();
    let Some(_stunnel) = start(&stage.folder.0, port, stage).await? else {
        println!("  stunnel4 is not installed: apt-get install stunnel4");
        return Ok(());
    };
    if !copy_and_read(stage, port, "by-stunnel").await? {
        println!("  nfs-cp is not installed: apt-get install libnfs-utils");
    }
    Ok(())
}

/// A tunnel from a port to the server, if stunnel is installed. It ends when it is dropped.
async fn start(folder: &Path, port: u16, stage: &Stage) -> Outcome<Option<Child>> {
    let (key, server) = (folder.join("stunnel.pem"), folder.join("server.pem"));
    Identity::generate().save(&key)?;
    fs::write(&server, stage.server.certificate_pem())?;
    let settings = format!(
        "foreground = yes\npid =\nsocket = r:TCP_NODELAY=1\n\
         [sfs]\nclient = yes\naccept = 127.0.0.1:{port}\nconnect = {}\n\
         cert = {}\nCAfile = {}\nverifyPeer = yes\nsslVersion = TLSv1.3\n",
        stage.tls,
        key.display(),
        server.display(),
    );
    let path = folder.join("stunnel.conf");
    fs::write(&path, settings)?;
    let log = fs::File::create(folder.join("stunnel.log"))?;
    let mut command = Command::new("stunnel4");
    command.arg(&path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).kill_on_drop(true);
    let child = match command.spawn() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        child => child?,
    };
    for _ in 0..100 {
        if TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return Ok(Some(child));
        }
        sleep(Duration::from_millis(50)).await;
    }
    Err(fs::read_to_string(folder.join("stunnel.log"))?.into())
}
