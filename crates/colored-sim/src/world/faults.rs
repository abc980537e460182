//! [`Fault`]: a family of faults; and how often each happens in a run.

use colored_machine::TICK;

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
    /// A read, a write or a sync of a file fails: see [`sim::fs`](crate::sim::fs#faults).
    Disk,
    /// Nothing arrives from one host at another, or both ways. Lasts as long as a [`Pause`](Fault::Pause).
    Partition,
    /// A host of [`Builder::host`](crate::sim::Builder::host) [crashes](crate::sim::Host::crash), and restarts after as long as a
    /// [`Pause`](Fault::Pause) lasts.
    Crash,
    /// A host of [`Builder::host`](crate::sim::Builder::host) takes no turns, and then goes on. A pause lasts for 10 ms of the run's
    /// time, or by a choice each for twice as long, up to 164 s: every second pause for 20 ms or more, one in a thousand for
    /// 10 s or more. It ends early when the quiet phase begins.
    Pause,
    /// A host's time of day moves by up to some hours, forward or back.
    Clock,
    /// Time passes while tasks are runnable, up to some seconds, as on a machine that is overloaded or stands still: timers
    /// fire in the middle of other work, and those that became due meanwhile fire late, at once. A time-out may end an
    /// operation that would have gone on: a program that waits for a limited time only may fail so, and be right.
    Stall,
    /// A worker is late with its timers, while all else goes on. Its timer that is due, and its others that become due
    /// meanwhile, fire behind the next thing that is due, a timer of another worker or a packet; or, by a choice each, four
    /// times as late, up to 10 s. So does one that is set meanwhile, as where the system stops in turn each thread that fires it. A
    /// task that is woken by something else sees before that its time has come.
    Lateness,
    /// A sleep or a time-out ends where it waits, before anything else happens: the time until its deadline, at most 100 s,
    /// passes in that poll, as on a thread that the system has stopped there. So a future under a time-out, or beside a sleep in
    /// `select!`, is dropped at each of its awaits: each once first, as by [`cancellable`](crate::sim::cancellable), and then at
    /// random. As with [`Stall`](Fault::Stall), a program that waits for a limited time only may fail so, and be right.
    Expiry,
}

impl Fault {
    pub(crate) const ALL: [Fault; 13] = [
        Fault::Delay,
        Fault::Pieces,
        Fault::Loss,
        Fault::Doubling,
        Fault::Reset,
        Fault::Disk,
        Fault::Partition,
        Fault::Crash,
        Fault::Pause,
        Fault::Clock,
        Fault::Stall,
        Fault::Lateness,
        Fault::Expiry,
    ];

    /// What happens, as far as a host says all about it.
    fn what(self) -> Option<&'static str> {
        match self {
            Fault::Delay => Some("a packet takes another time"),
            Fault::Pieces => Some("a stream moves fewer bytes, or holds fewer"),
            Fault::Loss => Some("a datagram is lost"),
            Fault::Doubling => Some("a datagram is doubled"),
            Fault::Reset => Some("a connection breaks"),
            Fault::Disk => Some("a read, a write or a sync of a file fails"),
            _ => None,
        }
    }
}

/// Once in how many times the faults of each family happen, or 0 if never: for packets, sockets, disks, timers that are due and
/// sleeps that wait each time, for the others in each turn.
pub(crate) type Rates = [u32; Fault::ALL.len()];

/// How a run decides whether something happens: a choice, whose default is no. It is named by a site, the time, and how
/// often the site has asked at that time; the last number is how often that happens, once in so many times.
pub(crate) type Chance = fn(usize, u64, u32) -> bool;

/// Takes a text that says which fault has happened, if that is wanted.
pub(crate) type Tell = fn(&dyn Fn() -> String);

impl super::World {
    /// Whether a fault of this family happens, which concerns this host.
    pub(crate) fn fault(&self, family: Fault, host: usize) -> bool {
        let one_in = self.one_in(family);
        let happens = one_in > 0 && self.choose(2 * family as usize, host, one_in);
        if happens && let Some(what) = family.what() {
            self.tell(|| format!("{what}, on {}", self.names[host]));
        }
        happens
    }

    /// Once in how many times faults of this family happen; 0 if never.
    pub(crate) fn one_in(&self, family: Fault) -> u32 {
        if self.is_quiet() { 0 } else { self.rates[family as usize] }
    }

    /// The toss of a coin, for how bad a fault is.
    pub(crate) fn is_tails(&self, family: Fault, host: usize) -> bool {
        self.is_one_in(2, family, host)
    }

    /// A choice of one in so many, for what a fault concerns.
    pub(crate) fn is_one_in(&self, many: u32, family: Fault, host: usize) -> bool {
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
