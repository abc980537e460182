//! [`Family`]: a kind of faults; and how often each happens in a run.

use colored_machine::TICK;

/// A family of faults. `sim::Fault` says what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Delay,
    Pieces,
    Loss,
    Doubling,
    Reset,
    Disk,
    Partition,
    Crash,
    Pause,
    Clock,
    Stall,
}

impl Family {
    pub(crate) const ALL: [Family; 11] = [
        Family::Delay,
        Family::Pieces,
        Family::Loss,
        Family::Doubling,
        Family::Reset,
        Family::Disk,
        Family::Partition,
        Family::Crash,
        Family::Pause,
        Family::Clock,
        Family::Stall,
    ];

    /// What happens, as far as a host says all about it.
    fn what(self) -> Option<&'static str> {
        match self {
            Family::Delay => Some("a packet takes another time"),
            Family::Pieces => Some("a stream moves fewer bytes, or holds fewer"),
            Family::Loss => Some("a datagram is lost"),
            Family::Doubling => Some("a datagram is doubled"),
            Family::Reset => Some("a connection breaks"),
            Family::Disk => Some("a read, a write or a sync of a file fails"),
            Family::Partition | Family::Crash | Family::Pause | Family::Clock | Family::Stall => {
                None
            }
        }
    }
}

/// Once in how many times the faults of each family happen, or 0 if never: for packets, sockets and disks each time, for the
/// others in each turn.
pub(crate) type Rates = [u32; Family::ALL.len()];

/// How a run decides whether something happens: a choice, whose default is no. It is named by a site, the time, and how
/// often the site has asked at that time; the last number is how often that happens, once in so many times.
pub(crate) type Chance = fn(usize, u64, u32) -> bool;

/// Takes a text that says which fault has happened, if that is wanted.
pub(crate) type Tell = fn(&dyn Fn() -> String);

impl super::World {
    /// Whether a fault of this family happens, which concerns this host.
    pub(crate) fn fault(&self, family: Family, host: usize) -> bool {
        let one_in = self.rates[family as usize];
        let happens =
            one_in > 0 && !self.is_quiet() && self.choose(2 * family as usize, host, one_in);
        if happens && let Some(what) = family.what() {
            self.tell(|| format!("{what}, on {}", self.names[host]));
        }
        happens
    }

    /// The toss of a coin, for how bad a fault is.
    pub(crate) fn is_tails(&self, family: Family, host: usize) -> bool {
        self.is_one_in(2, family, host)
    }

    /// A choice of one in so many, for what a fault concerns.
    pub(crate) fn is_one_in(&self, many: u32, family: Family, host: usize) -> bool {
        // A site of its own: a fault that is removed, with what is asked about it, renames no other one.
        self.choose(2 * family as usize + 1, host, many)
    }

    /// Says which fault has happened.
    pub(crate) fn tell(&self, what: impl Fn() -> String) {
        (self.tell)(&what);
    }

    fn choose(&self, kind: usize, host: usize, one_in: u32) -> bool {
        (self.chance)(kind * self.names.len() + host, self.now() / TICK, one_in)
    }
}
