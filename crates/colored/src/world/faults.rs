//! [`Family`]: a kind of faults; and how often each happens in a run.

/// A family of faults. [`sim::Fault`](crate::sim::Fault) says what they are.
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
}

impl Family {
    pub(crate) const ALL: [Family; 10] = [
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
    ];

    /// Whether its faults happen to packets, sockets and disks. The others happen between turns.
    fn happens_in_turns(self) -> bool {
        (self as usize) < Family::Partition as usize
    }
}

/// Once in how many times the faults of each family happen, or 0 if never: for packets, sockets and disks each time, for the others
/// in each turn.
pub(crate) type Rates = [u32; Family::ALL.len()];

/// How a run decides whether a fault happens. Each is a choice of the run, whose default is no.
#[derive(Clone, Copy)]
pub(crate) struct Chance {
    /// Named by the present turn: something that happens once in so many times.
    pub(crate) here: fn(u32) -> bool,
    /// Named by a site, and by how often that has asked: so it is the same fault when other turns come before.
    pub(crate) at_site: fn(usize, u32) -> bool,
}

impl super::World {
    /// Whether a fault of this family happens, which concerns this host.
    pub(crate) fn fault(&self, family: Family, host: usize) -> bool {
        let one_in = self.rates[family as usize];
        one_in > 0 && !self.is_quiet() && self.is_one_in(one_in, family, host)
    }

    /// The toss of a coin, for how bad a fault is.
    pub(crate) fn is_tails(&self, family: Family, host: usize) -> bool {
        self.is_one_in(2, family, host)
    }

    /// A choice of one in so many, for what a fault concerns.
    pub(crate) fn is_one_in(&self, many: u32, family: Family, host: usize) -> bool {
        match family.happens_in_turns() {
            true => (self.chance.at_site)(family as usize * self.names.len() + host, many),
            false => (self.chance.here)(many),
        }
    }
}
