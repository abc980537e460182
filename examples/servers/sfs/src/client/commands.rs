//! `ls`, `cat`, `cp`, `hash` and `watch`.

use super::{Client, Error, Listed, Result};
use colored::time::{Duration, sleep};
use nfs3_types::nfs3::ftype3;
use ring::digest::{Context, SHA256};
use std::io::{self, Write};
use std::sync::Arc;

/// How many bytes a command asks for at once.
const PIECE: usize = 1 << 20;

/// The entries of a directory, by name.
///
/// # Errors
///
/// As the methods of [`Client`].
pub async fn list(client: &Client, path: &str) -> Result<Arc<Vec<Listed>>> {
    let directory = client.resolve(path).await?;
    client.list(&directory).await
}

/// Writes the bytes of a file to `out`, piece by piece, and returns their number.
///
/// # Errors
///
/// As the methods of [`Client`], and of `out`.
pub async fn cat(client: &Client, path: &str, out: &mut (impl Write + Send)) -> Result<u64> {
    let file = client.resolve(path).await?;
    if client.attributes(&file).await?.type_ != ftype3::NF3REG {
        let text = format!("{path} is not a regular file");
        return Err(Error::Link(io::Error::new(io::ErrorKind::InvalidInput, text)));
    }
    let mut at = 0;
    loop {
        let bytes = client.read(&file, at, PIECE).await?;
        out.write_all(&bytes)?;
        at += bytes.len() as u64;
        if bytes.len() < PIECE {
            return Ok(at);
        }
    }
}

/// The SHA-256 hash of a file, in hexadecimal digits.
///
/// # Errors
///
/// As [`cat`].
pub async fn hash(client: &Client, path: &str) -> Result<String> {
    struct Hasher(Context);

    impl Write for Hasher {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut hasher = Hasher(Context::new(&SHA256));
    cat(client, path, &mut hasher).await?;
    Ok(hasher.0.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes the length of a file to `out`, and again each time that it is another one. It asks the cache ten times a second, and the
/// server once a lease. Does not return.
///
/// # Errors
///
/// As [`cat`].
pub async fn watch(client: &Client, path: &str, out: &mut (impl Write + Send)) -> Result<()> {
    let (file, mut last) = (client.resolve(path).await?, None);
    loop {
        let size = client.attributes(&file).await?.size;
        if last != Some(size) {
            writeln!(out, "{size} bytes")?;
            last = Some(size);
        }
        sleep(Duration::from_millis(100)).await;
    }
}

/// Makes these the bytes of the file at a path, on the device of the server. The directory must exist.
///
/// # Errors
///
/// As the methods of [`Client`].
pub async fn copy(client: &Client, bytes: &[u8], path: &str) -> Result<()> {
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let directory = client.resolve(above).await?;
    client.store(&directory, name.as_bytes(), bytes).await?;
    Ok(())
}
