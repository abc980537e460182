//! A connection of a client, as the procedures see it.

use crate::keys::KeyHash;
use crate::leases::Holder;
use crate::nfs::Request;
use crate::users::UserMap;
use colored::task::{CancellationToken, DropGuard};
use ring::digest::{Context, SHA256};
use rpc::{Auth, Caller};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// A connection. Its calls share it, so it ends when the connection has ended and the last of its calls too.
#[derive(Debug)]
pub(crate) struct Visit {
    users: Arc<UserMap>,
    key: Option<KeyHash>,
    number: u64,
    holder: OnceLock<Holder>,
    over: CancellationToken,
    _end: DropGuard,
}

impl Visit {
    pub(crate) fn new(users: Arc<UserMap>, key: Option<KeyHash>) -> Visit {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // Ordering: the numbers are different, whatever their order.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let over = CancellationToken::new();
        let end = over.clone().drop_guard();
        Visit { users, key, number, holder: OnceLock::new(), over, _end: end }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Cancelled when the connection and its calls have ended.
    pub(crate) fn over(&self) -> CancellationToken {
        self.over.clone()
    }

    /// Says which cache is behind the connection. The number is of the client's choice, so it counts beside the key only.
    pub(crate) fn introduce(&self, client: [u8; 16]) -> Holder {
        *self.holder.get_or_init(|| match self.key {
            None => Holder(client),
            Some(key) => {
                let mut context = Context::new(&SHA256);
                context.update(&key.0);
                context.update(&client);
                let hash = context.finish();
                Holder(hash.as_ref()[..16].try_into().expect("it has 32 bytes"))
            }
        })
    }

    /// Who makes a call on this connection.
    pub(crate) fn request(&self, caller: &Caller) -> Request {
        let holder = self.holder.get().copied();
        match caller.auth() {
            Auth::Unix(user) => {
                let gids: Vec<u32> = [user.gid].into_iter().chain(user.gids.clone()).collect();
                Request::new(Arc::clone(&self.users), Some((user.uid, &gids)), holder)
            }
            _ => Request::new(Arc::clone(&self.users), None, holder),
        }
    }
}
