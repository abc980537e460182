//! Mely's server of small files: a handler for each step of a request, all of the connection's color.
//!
//! | the paper's handler | here |
//! |---|---|
//! | `Accept` | the task that accepts |
//! | `ReadRequest` | the turn in which the bytes have come |
//! | `ParseRequest`, `GetFromCache`, `WriteResponse` | a turn each |
//! | `Close` | the end of the last turn |
//!
//! As in Mely, the server makes its responses when it starts, and uses no HTTP library: a library
//! would add the same time to every way of scheduling.

use super::FILE;
use httparse::{EMPTY_HEADER, Request, Status};
use std::collections::HashMap;
use std::io;
use std::sync::LazyLock;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The most bytes of a request.
const ROOM: usize = 512;

/// The most headers of a request.
const HEADERS: usize = 16;

/// The responses, by path.
static RESPONSES: LazyLock<HashMap<&str, Box<[u8]>>> = LazyLock::new(|| {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", FILE.len());
    HashMap::from([("/file", [head.as_bytes(), FILE].concat().into())])
});

const NOT_FOUND: &[u8] = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";

/// Serves one connection.
pub async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin) {
    // A client that goes away is no error of the server's.
    let _ = answer_all(stream).await;
}

async fn answer_all(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let mut bytes = [0; ROOM];
    let mut filled = 0;
    loop {
        let read = stream.read(&mut bytes[filled..]).await?;
        if read == 0 {
            // The last request has been answered, or the next one is too long.
            return Ok(());
        }
        filled += read;
        colored::yield_now().await;
        let Some((path, end)) = parse(&bytes[..filled])? else { continue };
        bytes.copy_within(end..filled, 0);
        filled -= end;
        colored::yield_now().await;
        let response = RESPONSES.get(path.as_str()).map_or(NOT_FOUND, |response| response);
        colored::yield_now().await;
        stream.write_all(response).await?;
    }
}

/// The path and the end of the request with which `bytes` begin; `None` if the request is not whole.
fn parse(bytes: &[u8]) -> io::Result<Option<(String, usize)>> {
    let mut headers = [EMPTY_HEADER; HEADERS];
    let mut request = Request::new(&mut headers);
    match request.parse(bytes).map_err(io::Error::other)? {
        Status::Complete(end) => Ok(request.path.map(|path| (path.to_owned(), end))),
        Status::Partial => Ok(None),
    }
}
