//! What operations cost, in picoseconds.

/// The costs of one machine.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(colored_watched), allow(dead_code, reason = "a real machine has its own"))]
pub(crate) struct Costs {
    /// A watched load or store of a line that the core has, with the instructions around it that touch nothing shared.
    pub(crate) own: u64,
    /// An atomic read-modify-write of such a line.
    pub(crate) exchange: u64,
    /// A sequentially consistent fence.
    pub(crate) fence: u64,
    /// A line comes from another core.
    pub(crate) line: u64,
    /// A look at the clock.
    pub(crate) clock: u64,
    /// The system call that wakes a sleeping thread.
    pub(crate) wake: u64,
    /// From the begin of that call until the thread runs.
    pub(crate) latency: u64,
    /// The system call that sends a thread to sleep.
    pub(crate) sleep: u64,
    /// A pause in a loop that waits.
    pub(crate) pause: u64,
    /// How long a thread tries again for a lock before it sleeps.
    pub(crate) lock_spin: u64,
    /// A look at the selector.
    pub(crate) poll: u64,
    /// Each event that it brings.
    pub(crate) event: u64,
}

/// As `costs` measured them on 2 cores of an AMD EPYC on 2026-11-25, but for three. `own` is such that one worker takes
/// about as long in the model as in fact. `line` is 24 ns between those two cores; among 128, on two sockets, it is
/// several times as much, so this is a guess, and `--line` varies it. `sleep` is a guess.
pub(crate) const MEASURED: Costs = Costs {
    own: 1_300,
    exchange: 4_500,
    fence: 4_500,
    line: 100_000,
    clock: 20_000,
    wake: 4_000_000,
    latency: 2_600_000,
    sleep: 1_000_000,
    pause: 22_000,
    lock_spin: 2_000_000,
    poll: 100_000,
    event: 75_000,
};
