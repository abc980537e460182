//! One connection: lines in, lines out.

use super::hotel::{Guest, Hotel};
use super::room::Line;
use colored::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use colored::net::TcpStream;
use colored::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use colored::spawn_here;
use colored::sync::mpsc::UnboundedReceiver;
use colored::time::{Duration, timeout};
use std::io::{self, ErrorKind::TimedOut};

/// The longest line, in bytes.
const LONGEST: u64 = 4096;

/// How many lines go into one write.
const BATCH: usize = 64;

/// How long a write may take: a member that does not read delays its room at most this long.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) async fn serve(stream: TcpStream, hotel: Hotel) -> io::Result<()> {
    let (read, write) = stream.into_split();
    let mut read = BufReader::new(read);
    let Some(first) = next_line(&mut read).await? else { return Ok(()) };
    let Some((room, name)) = first.split_once(' ') else {
        return Err(mistake(format!("{first:?} is not `ROOM NAME`")));
    };
    let (guest, lines) = hotel.enter(room.to_owned(), name.to_owned()).await;
    let put_out = guest.put_out();
    let reading = spawn_here(hear(read, guest));
    let ends = reading.abort_handle();
    let writing = spawn_here(async move {
        if let Err(error) = tell(lines, write).await {
            put_out(if error.kind() == TimedOut { "was too slow" } else { "is gone" });
            ends.abort();
        }
    });
    // A guest that leaves gets the lines that were said before.
    let heard = reading.await.unwrap_or(Ok(()));
    writing.await?;
    heard
}

async fn hear(mut read: BufReader<OwnedReadHalf>, guest: Guest) -> io::Result<()> {
    while let Some(line) = next_line(&mut read).await? {
        guest.say(line).await;
    }
    Ok(())
}

async fn tell(mut lines: UnboundedReceiver<Line>, mut write: OwnedWriteHalf) -> io::Result<()> {
    let mut batch = Vec::with_capacity(BATCH);
    while lines.recv_many(&mut batch, BATCH).await > 0 {
        let text: String = batch.iter().map(Line::text).collect();
        timeout(PATIENCE, write.write_all(text.as_bytes())).await??;
        // Makes room for as many lines.
        batch.clear();
    }
    Ok(())
}

/// The next line without its end; `None` after the last one.
async fn next_line(read: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<String>> {
    let mut line = String::new();
    if read.take(LONGEST).read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    match line.strip_suffix('\n') {
        Some(rest) => Ok(Some(rest.trim_end_matches('\r').to_owned())),
        None if line.len() as u64 == LONGEST => {
            Err(mistake(format!("a line of more than {LONGEST} bytes")))
        }
        None => Ok(Some(line)),
    }
}

fn mistake(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}
