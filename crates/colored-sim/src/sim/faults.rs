//! [`Faults`]: which faults the runs of a simulation have.

mod names;

pub use self::names::FaultsError;

use crate::thread;
use crate::world::{Family, Rates};

/// The faults that happen in a simulation, by families. Default: none.
///
/// Each fault is a choice of its run: a replay repeats it, and a failure is shrunk to the faults that it needs. Faults
/// happen until the *quiet phase* of a run, which begins when half of [`Builder::max_turns`](super::Builder::max_turns)
/// have been made, when nothing would ever be runnable again, or by [`begin_quiet_phase`](super::begin_quiet_phase). Then
/// all that faults have cut, stopped and crashed goes on, no further fault happens, and the main future must end.
///
/// ```
/// use colored::sim::{Fault, Faults};
///
/// let faults = Faults::swarm().without(Fault::Clock).without(Fault::Pause);
/// assert!(faults.includes(Fault::Loss) && !faults.includes(Fault::Clock));
/// assert!(!Faults::none().with(Fault::Delay).includes(Fault::Loss));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Faults {
    /// A bit for each family.
    families: u16,
    /// Each seed leaves half of the families out.
    is_swarm: bool,
}

/// A family of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// A packet between hosts takes up to some seconds, or 62.5 µs, in place of 0.5 ms. Datagrams overtake one another.
    Delay,
    /// A read or write of a stream moves fewer bytes than it could, and a stream holds 256 bytes in place of 64 KiB.
    Pieces,
    /// A datagram between hosts is lost.
    Loss,
    /// A datagram between hosts comes twice.
    Doubling,
    /// A connection between hosts breaks when one of them writes.
    Reset,
    /// A read, a write or a sync of a file fails: see [`sim::fs`](super::fs#faults).
    Disk,
    /// Nothing arrives from one host at another, or both ways. Lasts as long as a [`Pause`](Fault::Pause).
    Partition,
    /// A host of [`Builder::host`](super::Builder::host) [crashes](super::Host::crash), and restarts after as long as a
    /// [`Pause`](Fault::Pause) lasts.
    Crash,
    /// A host of [`Builder::host`](super::Builder::host) takes no turns, and then goes on. A pause lasts for 10 ms of the run's
    /// time, or by a choice each for twice as long, up to 164 s: every second pause for 20 ms or more, one in a thousand for
    /// 10 s or more. It ends early when the quiet phase begins.
    Pause,
    /// A host's time of day moves by up to some hours, forward or back.
    Clock,
    /// Time passes while tasks are runnable, up to some seconds, as on a machine that is overloaded or stands still: timers
    /// fire in the middle of other work, and those that became due meanwhile fire late, at once. A time-out may end an
    /// operation that would have gone on: a program that waits for a limited time only may fail so, and be right.
    Stall,
}

impl Fault {
    const fn family(self) -> Family {
        match self {
            Fault::Delay => Family::Delay,
            Fault::Pieces => Family::Pieces,
            Fault::Loss => Family::Loss,
            Fault::Doubling => Family::Doubling,
            Fault::Reset => Family::Reset,
            Fault::Disk => Family::Disk,
            Fault::Partition => Family::Partition,
            Fault::Crash => Family::Crash,
            Fault::Pause => Family::Pause,
            Fault::Clock => Family::Clock,
            Fault::Stall => Family::Stall,
        }
    }
}

impl Default for Faults {
    fn default() -> Self {
        Self::none()
    }
}

impl Faults {
    /// No faults, to which [`with`](Self::with) adds families. Each seed draws how often they happen.
    pub const fn none() -> Self {
        Self { families: 0, is_swarm: false }
    }

    /// All families but [`Fault::Stall`], which [`with`](Self::with) adds. Each seed leaves some of them out, with a chance of one in two each: some bugs show only where other
    /// faults do not get in the way (Groce and others, ISSTA 2012).
    pub const fn swarm() -> Self {
        let all = Self { families: (1 << Family::ALL.len()) - 1, is_swarm: true };
        all.without(Fault::Stall)
    }

    /// The families of the network, chosen as by [`swarm`](Self::swarm): hosts stay up, and disks are sound.
    pub const fn network() -> Self {
        let network = Self::swarm().without(Fault::Disk).without(Fault::Crash);
        network.without(Fault::Pause).without(Fault::Clock)
    }

    /// Adds a family.
    pub const fn with(mut self, family: Fault) -> Self {
        self.families |= 1 << family.family() as u16;
        self
    }

    /// Leaves a family out.
    pub const fn without(mut self, family: Fault) -> Self {
        self.families &= !(1 << family.family() as u16);
        self
    }

    /// Whether a run may have faults of this family.
    #[must_use]
    pub const fn includes(self, family: Fault) -> bool {
        self.families & 1 << family.family() as u16 != 0
    }

    /// The rates of the run of this seed.
    pub(super) fn draw(self, seed: u64) -> Rates {
        let mut rng = Rng(seed);
        let mut rates = Rates::default();
        for family in Family::ALL {
            // Each takes the same numbers, so that another family changes nothing for this one.
            let (is_out, how_often) = (rng.below(2) == 0, rng.below(3));
            let one_in = match family {
                Family::Reset | Family::Disk => [16, 64, 256],
                Family::Delay | Family::Pieces | Family::Loss | Family::Doubling => [4, 16, 64],
                // Of turns, for this one and the others.
                Family::Stall => [16, 64, 256],
                Family::Partition | Family::Crash | Family::Pause | Family::Clock => {
                    [100, 500, 2500]
                }
            };
            if self.families & 1 << family as u16 != 0 && !(self.is_swarm && is_out) {
                rates[family as usize] = one_in[how_often];
            }
        }
        rates
    }
}

/// A SplitMix64, by Steele, Lea and Flood.
pub(super) struct Rng(pub(super) u64);

impl Rng {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        thread::mix(self.0)
    }

    fn below(&mut self, end: u64) -> usize {
        (self.next() % end) as usize
    }
}
