//! [`Answer`]: the reply to a call, which is sent once.

use crate::connection::Outgoing;
use crate::error::Refusal;
use crate::message::{append_refusal, append_result};
use crate::record::{begin_record, finish_record};
use crate::udp::DatagramReply;
use colored::sync::OwnedSemaphorePermit;
use colored::sync::mpsc::UnboundedSender;
use nfs3_types::xdr_codec::Pack;

/// The right to answer a call. If it is dropped, the caller gets [`Refusal::SystemError`].
pub(crate) struct Answer {
    xid: u32,
    way: Option<Way>,
}

/// Where the reply goes.
pub(crate) enum Way {
    Stream { queue: UnboundedSender<Outgoing>, slot: OwnedSemaphorePermit },
    Datagram(DatagramReply),
}

impl Answer {
    pub(crate) fn new(xid: u32, way: Way) -> Self {
        Self { xid, way: Some(way) }
    }

    /// Sends the result.
    pub(crate) fn finish<R: Pack>(mut self, result: Result<R, Refusal>) {
        self.send(|xid, bytes| {
            let start = bytes.len();
            if append_result(bytes, xid, result).is_err() {
                bytes.truncate(start);
                append_refusal(bytes, xid, Refusal::SystemError);
            }
        });
    }

    /// Sends the refusal.
    pub(crate) fn refuse(mut self, refusal: Refusal) {
        self.send(|xid, bytes| append_refusal(bytes, xid, refusal));
    }

    fn send(&mut self, append: impl FnOnce(u32, &mut Vec<u8>)) {
        match self.way.take() {
            Some(Way::Stream { queue, slot }) => {
                let mut record = begin_record();
                append(self.xid, &mut record);
                finish_record(&mut record);
                // If it fails, the connection has ended.
                let _ = queue.send(Outgoing { record, slot: Some(slot) });
            }
            Some(Way::Datagram(reply)) => {
                let mut datagram = Vec::new();
                append(self.xid, &mut datagram);
                reply.send(self.xid, datagram);
            }
            None => {}
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.send(|xid, bytes| append_refusal(bytes, xid, Refusal::SystemError));
    }
}
