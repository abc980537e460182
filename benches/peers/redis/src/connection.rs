//! One client: all commands that have come, then one write.

use crate::resp::{self, Answer};
use crate::store::{Asked, Store};
use bytes::BytesMut;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Serves until the client closes the connection, or sends what is no command.
pub(crate) async fn serve<S: Store>(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    store: S,
) -> io::Result<()> {
    let (mut input, mut output) = (BytesMut::with_capacity(4096), BytesMut::with_capacity(4096));
    loop {
        if stream.read_buf(&mut input).await? == 0 {
            return Ok(());
        }
        let mut commands = Vec::new();
        let wrong = loop {
            match resp::next(&mut input) {
                Ok(None) => break None,
                Ok(Some(command)) => commands.push(Asked::by(&command)),
                Err(error) => break Some(error),
            }
        };
        output = store.answer(commands, output).await;
        if let Some(error) = wrong {
            Answer::Error(error).write(&mut output);
            return stream.write_all(&output).await;
        }
        stream.write_all(&output).await?;
        output.clear();
    }
}
