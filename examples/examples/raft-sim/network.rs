//! Messages as datagrams: they come late, twice, in another order, or not at all.

use crate::message::{Address, Envelope, Message};
use crate::node::NAMES;
use crate::wire;
use colored::net::UdpSocket;
use std::collections::VecDeque;

/// The port of the first address.
const PORT: u64 = 7000;

/// The socket of an address.
pub(crate) struct Socket {
    own: Address,
    socket: UdpSocket,
    /// What is to be sent, first to last.
    outbox: VecDeque<(Address, Vec<u8>)>,
    buffer: Vec<u8>,
}

impl Socket {
    pub(crate) async fn bind(own: Address) -> Self {
        let socket = UdpSocket::bind(format!("0.0.0.0:{}", PORT + own)).await;
        let socket = socket.expect("nobody else has the port");
        Self { own, socket, outbox: VecDeque::new(), buffer: vec![0; 65_536] }
    }

    /// Sends a message with the next [`receive`](Self::receive).
    pub(crate) fn send(&mut self, to: Address, message: Message) {
        self.outbox.push_back((to, wire::encode(&Envelope { from: self.own, message })));
    }

    /// Sends what is to be sent; then returns the next message. Cancel safe.
    pub(crate) async fn receive(&mut self) -> Envelope {
        while let Some((to, bytes)) = self.outbox.front() {
            // The clients are beside the main future.
            let host = NAMES.get(*to as usize).unwrap_or(&"main");
            // A datagram that cannot be sent is lost as well.
            let _ = self.socket.send_to(bytes, format!("{host}:{}", PORT + to)).await;
            self.outbox.pop_front();
        }
        loop {
            let received = self.socket.recv_from(&mut self.buffer).await;
            let length = received.map_or(0, |(length, _)| length);
            if let Some(envelope) = wire::decode(&self.buffer[..length]) {
                return envelope;
            }
        }
    }
}
