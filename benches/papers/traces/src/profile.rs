//! The marginals of the paper's two traces: [`Profile`].

/// The marginals of a trace.
///
/// Arrays have one entry for each class of files, in the order of [`Class::ALL`](crate::class::Class::ALL).
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// The name on the command line.
    pub name: &'static str,
    /// The number of requests.
    pub requests: u64,
    /// The bytes of all requested files, each counted once.
    pub footprint: u64,
    /// The share of each class in the bytes transferred.
    pub transferred: [f64; 3],
    /// The share of each class in the footprint. The paper does not print it; the values are guesses, near the shares
    /// of the bytes transferred.
    pub stored: [f64; 3],
}

impl Profile {
    /// The trace of the web servers of Rice University.
    pub const RICE: Self = Self {
        name: "rice",
        requests: 245_820,
        footprint: 1_100_000_000,
        transferred: [0.055, 0.202, 0.743],
        stored: [0.05, 0.25, 0.70],
    };

    /// The trace of the web servers of the University of California at Berkeley.
    pub const BERKELEY: Self = Self {
        name: "berkeley",
        requests: 3_184_540,
        footprint: 6_400_000_000,
        transferred: [0.082, 0.332, 0.586],
        stored: [0.07, 0.28, 0.65],
    };

    /// Both traces.
    pub const ALL: [Self; 2] = [Self::RICE, Self::BERKELEY];

    /// The memory of the paper's server, in bytes. A server whose memory is limited to `scale` times this value has the
    /// paper's ratio of footprint to memory.
    pub const MEMORY: u64 = 2_000_000_000;
}
