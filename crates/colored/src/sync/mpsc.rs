//! Channels with many senders and one receiver: [`tokio::sync::mpsc`].

mod bounded;
pub mod error;
mod halves;
mod unbounded;

pub use self::bounded::{OwnedPermit, Receiver, Sender, WeakSender, channel};
pub use self::unbounded::{
    UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel,
};
pub use tokio::sync::mpsc::{Permit, PermitIterator};
