//! The task that writes.

use super::state::State;
use crate::error::RpcError;
use colored::ColorCell;
use colored::io::{AsyncWrite, AsyncWriteExt};
use colored::sync::mpsc::UnboundedReceiver;
use colored::sync::{OwnedSemaphorePermit, watch};
use colored::time::{Duration, sleep};
use std::io;
use std::pin::pin;
use std::sync::Arc;

/// So many records are written at once, if they are there.
const RECORDS: usize = 64;

/// So many bytes are collected for one write.
const BYTES: usize = 1 << 16;

/// A record to be written. Its slot is free when it is written.
pub(crate) struct Outgoing {
    pub(crate) record: Vec<u8>,
    #[expect(dead_code, reason = "held")]
    pub(crate) slot: Option<OwnedSemaphorePermit>,
}

/// Writes what is queued: until the connection has ended and the calls in progress are answered, for `limit` at most; or
/// until an error ends the connection, such as that of a [`Patient`](super::patient::Patient) stream.
pub(super) async fn write<S: AsyncWrite + Unpin>(
    mut stream: S,
    mut queue: UnboundedReceiver<Outgoing>,
    limit: Duration,
    state: ColorCell<State>,
    mut ended: watch::Receiver<Option<RpcError>>,
) {
    let mut batch = Vec::new();
    let mut buffer = Vec::new();
    let mut last = pin!(async {
        // An error would say that the state is gone, and so the connection has ended as well.
        let _ = ended.wait_for(Option::is_some).await;
        sleep(limit).await;
    });
    loop {
        let count = colored::select! {
            biased;
            count = queue.recv_many(&mut batch, RECORDS) => count,
            () = &mut last => 0,
        };
        if count == 0 {
            break;
        }
        if let Err(error) = write_batch(&mut stream, &batch, &mut buffer).await {
            state.with(|state| state.end(RpcError::Io(Arc::new(error))));
            return;
        }
        batch.clear();
    }
    // The other side may have gone.
    let _ = stream.shutdown().await;
}

async fn write_batch<S: AsyncWrite + Unpin>(
    stream: &mut S,
    batch: &[Outgoing],
    buffer: &mut Vec<u8>,
) -> io::Result<()> {
    for Outgoing { record, .. } in batch {
        if buffer.len() + record.len() > BYTES {
            stream.write_all(buffer).await?;
            buffer.clear();
        }
        if record.len() > BYTES {
            stream.write_all(record).await?;
        } else {
            buffer.extend_from_slice(record);
        }
    }
    stream.write_all(buffer).await?;
    buffer.clear();
    stream.flush().await
}
