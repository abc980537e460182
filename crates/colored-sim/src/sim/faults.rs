//! [`Faults`]: which faults the runs of a simulation have.

mod names;

pub use self::names::FaultsError;
pub use crate::world::Fault;

use crate::thread;
use crate::world::Rates;

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

    /// All families but those by which time-outs end that would not: [`Fault::Stall`], [`Fault::Lateness`] and [`Fault::Expiry`],
    /// which [`with`](Self::with) adds. Each seed leaves some of them out, with a chance of one in two each: some bugs show only
    /// where other faults do not get in the way (Groce and others, ISSTA 2012).
    pub const fn swarm() -> Self {
        let all = Self { families: (1 << Fault::ALL.len()) - 1, is_swarm: true };
        all.without(Fault::Stall).without(Fault::Lateness).without(Fault::Expiry)
    }

    /// The families of the network, chosen as by [`swarm`](Self::swarm): hosts stay up, and disks are sound.
    pub const fn network() -> Self {
        let network = Self::swarm().without(Fault::Disk).without(Fault::Crash);
        network.without(Fault::Pause).without(Fault::Clock)
    }

    /// Adds a family.
    pub const fn with(mut self, family: Fault) -> Self {
        self.families |= 1 << family as u16;
        self
    }

    /// Leaves a family out.
    pub const fn without(mut self, family: Fault) -> Self {
        self.families &= !(1 << family as u16);
        self
    }

    /// Whether a run may have faults of this family.
    #[must_use]
    pub const fn includes(self, family: Fault) -> bool {
        self.families & 1 << family as u16 != 0
    }

    /// The rates of the run of this seed.
    pub(super) fn draw(self, seed: u64) -> Rates {
        let mut rng = Rng(seed);
        let mut rates = Rates::default();
        for family in Fault::ALL {
            // Each takes the same numbers, so that another family changes nothing for this one.
            let (is_out, how_often) = (rng.below(2) == 0, rng.below(3));
            let one_in = match family {
                Fault::Reset | Fault::Disk => [16, 64, 256],
                Fault::Delay | Fault::Pieces | Fault::Loss | Fault::Doubling => [4, 16, 64],
                // Of timers that are due.
                Fault::Lateness => [4, 16, 64],
                // Of waits.
                Fault::Expiry => [16, 64, 256],
                // Of turns, for this one and the others.
                Fault::Stall => [16, 64, 256],
                Fault::Partition | Fault::Crash | Fault::Pause | Fault::Clock => [100, 500, 2500],
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
