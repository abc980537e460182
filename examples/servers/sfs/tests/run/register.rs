//! A client that reads and writes eight bytes of a file, and notes what it sees.

use crate::history::History;
use colored::time::{Duration, sleep};
use nfs3_types::nfs3::{nfs_fh3, stable_how};
use sfs::client::{Client, Error, Options, Result, Target};
use sfs::keys::Identity;

/// The path of the file.
pub(crate) const PATH: &str = "/register";

/// What a client does.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) target: Target,
    pub(crate) identity: Identity,
    pub(crate) options: Options,
    pub(crate) history: History,
    /// How many reads and writes.
    pub(crate) steps: usize,
    /// The longest pause between two of them.
    pub(crate) pause: Duration,
}

impl Script {
    /// Reads and writes, by these random numbers. Calls that fail are not tried again.
    pub(crate) async fn run(self, mut random: impl FnMut() -> u64) {
        let client = Client::new(&self.target, &self.identity, &self.options);
        let Ok(file) = find(&client).await else { return };
        for _ in 0..self.steps {
            sleep(self.pause.mul_f64((random() % 1000) as f64 / 1000.0)).await;
            if random().is_multiple_of(4) {
                let value = self.history.now() as u64;
                let write = self.history.begin_write(value);
                let bytes = value.to_be_bytes();
                if client.write(&file, 0, &bytes, stable_how::FILE_SYNC).await.is_ok() {
                    self.history.end_write(&write);
                }
            } else {
                let begin = self.history.now();
                if let Ok(bytes) = client.read(&file, 0, 8).await {
                    let bytes = bytes.try_into().expect("the file has 8 bytes");
                    self.history.note_read(u64::from_be_bytes(bytes), begin);
                }
            }
        }
        let _ = client.close().await;
    }
}

async fn find(client: &Client) -> Result<nfs_fh3> {
    for _ in 0..10 {
        match client.resolve(PATH).await {
            Err(Error::Link(_)) => sleep(Duration::from_millis(500)).await,
            found => return found,
        }
    }
    client.resolve(PATH).await
}
