//! What a server is told at its start.

use colored::time::Duration;

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a client may cache what it has read, unless it is called back. Also how long a server waits after its start
    /// before the first change.
    pub lease: Duration,
    /// What the server does wrong, for tests of tests.
    pub mistake: Option<Mistake>,
}

impl Default for Settings {
    /// Leases of 10 seconds.
    fn default() -> Self {
        Settings { lease: Duration::from_secs(10), mistake: None }
    }
}

/// A mistake that tests plant: each must make a test fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A change is answered although clients still cache the old data.
    AnswersBeforeTheCallBacks,
    /// A stable write and a commit are answered before the bytes are on the device.
    AnswersBeforeTheSync,
    /// A write that the disk has no room for is answered as if it were made.
    AnswersWithoutRoom,
    /// Nobody is called back.
    ForgetsTheCallBacks,
    /// A server that starts again changes files although clients have leases of the run before.
    ForgetsTheGracePeriod,
    /// A client that has lost its connection does not connect again.
    GivesUpWithTheConnection,
    /// A client does not write again what a server that has stopped may have lost.
    IgnoresTheVerifier,
    /// A read of a file is answered by the bytes before those that are asked for.
    MixesUpBlocks,
    /// A client reads from its cache after the lease has expired.
    ReadsBehindTheLease,
    /// A change waits twice as long as the lease of a client that does not answer.
    WaitsForTwoLeases,
}
