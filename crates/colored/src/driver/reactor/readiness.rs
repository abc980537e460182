//! The readiness word of one registered socket.
//!
//! epoll is edge-triggered: it tells once that a socket became ready, so the word remembers it
//! until an operation finds the socket exhausted. Five calls change it:
//!
//! | call | caller | flags | tick |
//! |---|---|---|---|
//! | `mark` | the thread that polls the shard | adds what the event says | + 1 |
//! | `exhausted` | an operation that met `WouldBlock` | drops direction and closed flag | same |
//! | `drained` | an operation that moved fewer bytes than asked | drops its direction | same |
//! | `know` | a task that waits for readiness itself | drops what was assumed and not told | same |
//! | `shut_down` | the runtime's end | adds `SHUT_DOWN`, for good | + 1 |
//!
//! `exhausted` and `drained` act only while the tick is the one that the operation saw *before* its system
//! call. If the tick moved, an event arrived in between, and dropping the flag could lose it.

use std::sync::atomic::{AtomicU32, Ordering};

use super::ready::{Interest, Ready};

/// Urgent data has been announced once, so a short read may stop before the end of the data. This stays; [`Ready`] has a
/// flag for urgent data that is there now.
const URGENT: u32 = 1 << 6;
/// The runtime of this socket has shut down.
const SHUT_DOWN: u32 = 1 << 7;
/// No event has told yet that the socket can be read; it was assumed.
const ASSUMED: u32 = 1 << 8;
/// The content of the word besides the tick.
const FLAGS: u32 = TICK - 1;
/// One step of the tick, which fills the upper 23 bits and wraps around. To be fooled, an
/// operation would have to sleep between its load and its clear for a multiple of 2^23 events.
const TICK: u32 = 1 << 9;

/// The word itself.
pub(super) struct Readiness(AtomicU32);

/// The word at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot(u32);

impl Snapshot {
    /// The readiness of the socket.
    pub(crate) fn ready(self) -> Ready {
        Ready::from_bits((self.0 & u32::from(Ready::ALL.bits())) as u8)
    }

    /// True once the runtime of this socket has shut down.
    pub(super) fn is_shut_down(self) -> bool {
        self.0 & SHUT_DOWN != 0
    }
}

impl Readiness {
    /// A word that says `ready` before any event has arrived.
    pub(super) fn new(ready: Ready) -> Readiness {
        Readiness(AtomicU32::new(u32::from(ready.bits()) | ASSUMED))
    }

    /// The word now.
    pub(super) fn load(&self) -> Snapshot {
        // Ordering: Acquire pairs with the AcqRel of `change`: an operation that goes ahead because
        // of an event comes after that event in every other respect too.
        Snapshot(self.0.load(Ordering::Acquire))
    }

    /// The poller saw an event.
    pub(super) fn mark(&self, ready: Ready, urgent: bool) {
        let told = if ready.is_readable() { ASSUMED } else { 0 };
        self.change(u32::from(ready.bits()) | if urgent { URGENT } else { 0 }, told);
    }

    /// A task asks for readiness itself, not for an operation that would find out: what no event has told does not count.
    /// The system tells of a socket that could be read already when it was registered, so an event is still to come.
    pub(super) fn know(&self) {
        let step = |word: u32| {
            (word & ASSUMED != 0).then_some(word & !(ASSUMED | u32::from(Ready::READABLE.bits())))
        };
        // Ordering: as in `remove`. An event that came before has taken `ASSUMED` away.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, step);
    }

    /// The runtime ends.
    pub(super) fn shut_down(&self) {
        self.change(SHUT_DOWN, 0);
    }

    /// The operation that saw `seen` met `WouldBlock`: the socket is neither ready nor closed in
    /// the direction of `interest`, whatever was believed.
    pub(super) fn exhausted(&self, seen: Snapshot, interest: Interest) {
        self.remove(seen, interest.answered_by().bits().into());
    }

    /// The operation that saw `seen` moved fewer bytes than it asked for. Where the system then
    /// owes an event before the next byte can move, the direction of `interest` is not ready.
    /// A closed flag stays: the end of the stream has still to be reported.
    pub(super) fn drained(&self, seen: Snapshot, interest: Interest) {
        // A read stops short at urgent data although more follows, and no event announces that.
        if SHORT_MEANS_DRAINED && seen.0 & URGENT == 0 {
            self.remove(seen, interest.bits().into());
        }
    }

    fn change(&self, add: u32, remove: u32) {
        let step = |word: u32| Some(((word | add) & !remove).wrapping_add(TICK));
        // Ordering: AcqRel. Release pairs with the Acquire in `load`.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, step);
    }

    fn remove(&self, seen: Snapshot, flags: u32) {
        let step = |word: u32| (word & !FLAGS == seen.0 & !FLAGS).then_some(word & !flags);
        // Ordering: AcqRel, so that the system call before it is not seen to come after it.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, step);
    }
}

/// epoll reports the next edge after a transfer that was cut short: epoll(7), question 9. Others
/// are asked again, and answer `WouldBlock`.
const SHORT_MEANS_DRAINED: bool = cfg!(any(target_os = "linux", target_os = "android"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_between_load_and_clear_is_kept() {
        let word = Readiness::new(Ready::READABLE);
        let seen = word.load();
        word.mark(Ready::READABLE, false);
        word.exhausted(seen, Interest::READABLE);
        assert!(word.load().ready().is_readable());
        word.exhausted(word.load(), Interest::READABLE);
        assert!(word.load().ready().is_empty());
    }

    #[test]
    fn what_was_assumed_counts_until_a_task_asks_and_what_was_told_counts_longer() {
        let word = Readiness::new(Ready::READABLE | Ready::WRITABLE);
        word.mark(Ready::WRITABLE, false);
        assert!(word.load().ready().is_readable(), "an operation may try");
        word.know();
        assert_eq!(word.load().ready(), Ready::WRITABLE);
        word.mark(Ready::READABLE, false);
        word.know();
        assert_eq!(word.load().ready(), Ready::READABLE | Ready::WRITABLE);

        let told = Readiness::new(Ready::READABLE);
        told.mark(Ready::READABLE, false);
        told.know();
        assert!(told.load().ready().is_readable());
    }

    #[test]
    fn clearing_one_direction_leaves_the_other() {
        let word = Readiness::new(Ready::READABLE | Ready::WRITABLE);
        word.exhausted(word.load(), Interest::READABLE);
        assert_eq!(word.load().ready(), Ready::WRITABLE);
        word.exhausted(word.load(), Interest::WRITABLE);
        assert_eq!(word.load().ready(), Ready::EMPTY);
    }

    #[test]
    fn a_short_read_keeps_the_end_of_the_stream() {
        let word = Readiness::new(Ready::READABLE | Ready::READ_CLOSED);
        word.drained(word.load(), Interest::READABLE);
        assert!(word.load().ready().is_read_closed());
        word.exhausted(word.load(), Interest::READABLE);
        assert!(word.load().ready().is_empty());
    }

    #[test]
    fn after_urgent_data_a_short_read_proves_nothing() {
        let word = Readiness::new(Ready::EMPTY);
        word.mark(Ready::READABLE, true);
        word.drained(word.load(), Interest::READABLE);
        assert!(word.load().ready().is_readable());
    }

    #[test]
    fn the_tick_wraps_without_touching_the_flags() {
        let word = Readiness(AtomicU32::new(!FLAGS | 1));
        word.mark(Ready::WRITABLE, false);
        assert_eq!(word.load(), Snapshot(0b11));
    }
}
