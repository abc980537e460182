//! The task that receives: calls go to their handlers, replies to their callers.

use super::cache::{Generation, Key, Known};
use super::state::State;
use super::{DATAGRAM, Shared, Udp};
use crate::answer::{Answer, Way};
use crate::auth::Auth;
use crate::caller::{self, Caller};
use crate::error::Refusal;
use crate::message::{Call, Message, append_refusal};
use crate::table::Services;
use colored::net::UdpSocket;
use colored::time::{Duration, sleep};
use std::net::SocketAddr;
use std::sync::{Arc, Weak};

/// After an error of the socket, which may come again at once.
const PAUSE: Duration = Duration::from_millis(5);

/// Receives until the endpoint is closed.
pub(super) async fn receive(socket: Arc<UdpSocket>, endpoint: Weak<Shared>) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match socket.recv_from(&mut buffer).await {
            Ok((length, from)) => {
                let Some(shared) = endpoint.upgrade() else { return };
                handle(&shared, from, &buffer[..length]);
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}

fn handle(shared: &Arc<Shared>, from: SocketAddr, datagram: &[u8]) {
    match Message::parse(datagram) {
        None => {
            if shared.state.with(State::note_garbage) {
                shared.close();
            }
        }
        Some(Message::Reply { xid, result }) => {
            shared.state.with(|state| state.complete(from, xid, result));
        }
        Some(Message::Call { xid, call }) => {
            let key = (from, xid);
            let admitted = shared.state.with(|state| {
                let (known, services) = state.admit(key, datagram)?;
                Some((known, services.clone()))
            });
            match admitted {
                None | Some((Known::InProgress, _)) => {}
                // If there is no room, it is lost, and the call comes again.
                Some((Known::Done(reply), _)) => drop(shared.socket.try_send_to(&reply, from)),
                Some((Known::No(generation), services)) => {
                    let reply = DatagramReply { shared: Arc::clone(shared), key, generation };
                    execute(&services, call, Answer::new(xid, Way::Datagram(reply)), shared, from);
                }
            }
        }
    }
}

fn execute(
    services: &Services,
    call: Result<Call<'_>, Refusal>,
    answer: Answer,
    shared: &Arc<Shared>,
    from: SocketAddr,
) {
    match call {
        Err(refusal) => answer.refuse(refusal),
        Ok(mut call) => {
            let retry = shared.retry.clone();
            let udp = Udp { shared: Arc::clone(shared), auth: Arc::new(Auth::None), retry };
            let caller = Caller {
                peer: Some(from),
                auth: std::mem::take(&mut call.auth),
                identity: None,
                way: caller::Way::Datagram(udp),
            };
            services.dispatch(&call, caller, answer);
        }
    }
}

/// Where the reply to a datagram goes: to its sender, and to the cache.
pub(crate) struct DatagramReply {
    shared: Arc<Shared>,
    key: Key,
    generation: Generation,
}

impl DatagramReply {
    pub(crate) fn send(self, xid: u32, mut reply: Vec<u8>) {
        if reply.len() > DATAGRAM {
            reply.clear();
            append_refusal(&mut reply, xid, Refusal::SystemError);
        }
        let reply: Arc<[u8]> = reply.into();
        let Self { shared, key, generation } = self;
        let kept = Arc::clone(&reply);
        // First: the caller may be fast.
        shared.state.post(move |state| state.finish(key, generation, kept));
        // If there is no room, it is lost, and the call comes again.
        let _ = shared.socket.try_send_to(&reply, key.0);
    }
}
