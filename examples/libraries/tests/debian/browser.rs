//! Chromium as a client of the example `websocket-rooms`.

use super::program::find;
use crate::support::{Running, alone};
use colored::net::TcpStream;
use colored::time::{Duration, timeout};
use futures_util::StreamExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tokio_tungstenite::client_async;

/// A browser without a window, with a profile of its own, both of which go with this.
struct Browser {
    child: Child,
    profile: PathBuf,
}

impl Browser {
    fn open(chromium: &Path, url: &str) -> Browser {
        let profile = std::env::temp_dir().join(format!("colored-browser-{}", std::process::id()));
        let mut command = Command::new(chromium);
        // As root it runs only without its sandbox; and it is to look for nothing outside of this machine.
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]);
        command.args(["--disable-background-networking", "--disable-component-update"]);
        command.args(["--disable-sync", "--remote-debugging-port=0"]);
        command.arg(format!("--user-data-dir={}", profile.display())).arg(url);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Browser { child: command.spawn().expect("the browser starts"), profile }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

#[test]
fn a_browser_enters_a_room_and_speaks() {
    let Some(chromium) = find("chromium", "chromium") else { return };
    let server = Running::rooms();
    alone(async move {
        let stream = TcpStream::connect(server.addr()).await.unwrap();
        let url = format!("ws://{}/rooms/lobby/bob", server.addr());
        let (mut bob, _) = client_async(url, stream).await.unwrap();
        let browser =
            Browser::open(&chromium, &server.url("/#lobby/ann/hello%20from%20a%20browser"));
        let hears = async {
            while let Some(message) = bob.next().await {
                let text = message.unwrap().into_text().unwrap();
                if text.contains("ann") && text.contains("hello from a browser") {
                    return;
                }
            }
            panic!("the server has closed the connection");
        };
        timeout(Duration::from_secs(60), hears).await.expect("the browser speaks within a minute");
        drop(browser);
    });
}
