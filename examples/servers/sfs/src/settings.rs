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
    /// Nobody is called back.
    ForgetsTheCallBacks,
    /// A server that starts again changes files although clients have leases of the run before.
    ForgetsTheGracePeriod,
    /// A client reads from its cache after the lease has expired.
    ReadsBehindTheLease,
}
