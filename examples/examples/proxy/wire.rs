//! Code that the three proxies share: HTTP, as little of it as they need. One request for each connection,
//! `GET` only, and a page is kept for ever.

use bytes::Bytes;
use colored::io::{AsyncReadExt, AsyncWriteExt, named};
use colored::net::TcpStream;
use colored::sync::OnceCell;
use colored::time::{Duration, timeout};
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::sync::{Arc, LazyLock};

/// The answer of an origin, including its head.
pub(crate) type Page = Bytes;

/// The cache. The first request fetches a page; later requests wait for it meanwhile.
pub(crate) type Pages = HashMap<Url, Arc<OnceCell<Page>>>;

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Url {
    /// With the port, if it is not 80.
    host: String,
    path: String,
}

/// How long a client or an origin may keep the proxy waiting.
const PATIENCE: Duration = Duration::from_secs(10);
const MAX_HEAD: u64 = 16 << 10;
const MAX_PAGE: u64 = 16 << 20;

/// Reads the request line and the headers.
pub(crate) async fn read_head(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut client = client.take(MAX_HEAD);
    let reading = async {
        while !head.ends_with(b"\r\n\r\n") {
            if client.read_buf(&mut head).await? == 0 {
                return Err(io::Error::new(ErrorKind::InvalidData, "half a request, or too much"));
            }
        }
        Ok(())
    };
    timeout(PATIENCE, reading).await??;
    Ok(head)
}

/// Finds the URL, and refuses it if the request contains a blocked name. This costs CPU: thousands of
/// names are looked for.
pub(crate) fn parse(head: &[u8]) -> io::Result<Url> {
    let invalid = |text: &str| io::Error::new(ErrorKind::InvalidData, text);
    let head = str::from_utf8(head).map_err(|_| invalid("a head is text"))?;
    let line = head.lines().next().unwrap_or_default();
    let url = line.strip_prefix("GET http://").and_then(|rest| rest.split_once(' '));
    let (url, _version) = url.ok_or_else(|| invalid("expected GET http://HOST/PATH HTTP/1.1"))?;
    if let Some(name) = BLOCKED.iter().find(|name| head.contains(name.as_str())) {
        return Err(io::Error::new(ErrorKind::PermissionDenied, format!("{name} is blocked")));
    }
    let (host, path) = url.split_once('/').unwrap_or((url, ""));
    Ok(Url { host: host.into(), path: format!("/{path}") })
}

/// The page as the client may see it: asterisks in place of blocked names. This is what costs the proxy
/// most of its CPU. The list may change while a page is in the cache, so each answer is masked anew.
pub(crate) fn mask(page: &Page) -> Page {
    // An image, say.
    let Ok(text) = str::from_utf8(page) else { return page.clone() };
    let mask = |text: String, name: &String| text.replace(name, &"*".repeat(name.len()));
    BLOCKED.iter().filter(|name| text.contains(*name)).fold(text.to_owned(), mask).into()
}

static BLOCKED: LazyLock<Vec<String>> =
    LazyLock::new(|| (0..10_000).map(|n| format!("ads-{n}.example")).collect());

/// Asks the origin for a page.
pub(crate) async fn fetch(url: &Url) -> io::Result<Page> {
    let Url { host, path } = url;
    let addr = if host.contains(':') { host.clone() } else { format!("{host}:80") };
    let fetching = async {
        let mut origin = TcpStream::connect(addr).await?;
        let request = format!("GET {path} HTTP/1.0\r\nhost: {host}\r\n\r\n");
        origin.write_all(request.as_bytes()).await?;
        let mut page = Vec::new();
        origin.take(MAX_PAGE).read_to_end(&mut page).await?;
        Ok(page.into())
    };
    // The client is told what could not be connected to.
    let fetched = timeout(PATIENCE, named(fetching)).await?;
    fetched.map_err(|error| io::Error::new(error.kind(), error))
}

/// Sends the page, or says why there is none, and closes.
pub(crate) async fn reply(mut client: TcpStream, answer: io::Result<Page>) {
    let page = answer.unwrap_or_else(|error| {
        let status = match error.kind() {
            ErrorKind::InvalidData => "400 Bad Request",
            ErrorKind::PermissionDenied => "403 Forbidden",
            _ => "502 Bad Gateway",
        };
        format!("HTTP/1.0 {status}\r\n\r\n{error}\n").into()
    });
    // A client that has gone needs no answer.
    let _ = client.write_all(&page).await;
    let _ = client.shutdown().await;
}
