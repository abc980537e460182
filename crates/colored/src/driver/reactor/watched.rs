//! [`Watched`]: the events of a socket that the system reports.

#[cfg(unix)]
use super::ready::Interest;

/// The events of a socket that the system reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched(mio::Interest);

impl Watched {
    /// Everything, once and for all: a change costs a system call.
    pub(crate) const EVERYTHING: Watched = Watched(WITHOUT_ROOM.add(mio::Interest::WRITABLE));

    /// All but room for data, for which there is [`Shard::watch_room`](super::Shard::watch_room).
    #[cfg(unix)]
    pub(crate) const ALL_BUT_ROOM: Watched = Watched(WITHOUT_ROOM);

    /// The events that answer a wait for `interest`.
    #[cfg(unix)]
    pub(crate) fn of(interest: Interest) -> Watched {
        let parts = [
            (interest.is_readable(), WITHOUT_ROOM),
            (interest.is_writable(), mio::Interest::WRITABLE),
            (interest.is_urgent(), URGENT),
        ];
        let asked = parts.iter().filter(|(is_asked, _)| *is_asked).map(|(_, events)| *events);
        Watched(asked.reduce(mio::Interest::add).expect("an interest is in something"))
    }

    pub(super) fn interest(self) -> mio::Interest {
        self.0
    }
}

/// Where the system announces urgent data, we listen, because it breaks an assumption: see
/// `Readiness::drained`.
const WITHOUT_ROOM: mio::Interest = mio::Interest::READABLE.add(URGENT);

#[cfg(any(target_os = "linux", target_os = "android"))]
const URGENT: mio::Interest = mio::Interest::PRIORITY;
/// There is nothing of that kind.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const URGENT: mio::Interest = mio::Interest::READABLE;
