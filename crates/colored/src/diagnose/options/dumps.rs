//! The settings of dumps that a runtime makes by itself.

use super::Options;
#[cfg(unix)]
use crate::signal::unix::SignalKind;
use colored_diagnose::dump::{Dump, DumpHook};
use colored_diagnose::{OnSignal, StallSettings, Subject};
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

/// # Dumps
impl Options {
    /// A [dump](crate::Handle::dump) is made each time the signal comes, also while every worker is stuck. Default: none.
    ///
    /// A thread of its own (`colored-dump`) makes the dump, and writes its text to the standard error, or hands it to the
    /// function of [`on_dump`](Self::on_dump). Signals that come while a dump is made are one. [`build`](crate::Builder::build) reports a
    /// signal that cannot be handled. An [embedded](crate::Builder::build_embedded) runtime ignores this setting.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// use colored::signal::unix::SignalKind;
    ///
    /// // kill -USR1 ..
    /// let options = colored::diagnose::Options::new().dump_on_signal(SignalKind::user_defined1());
    /// let runtime = colored::Builder::new().diagnose(options).build()?;
    /// # drop(runtime);
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(unix)]
    pub fn dump_on_signal(mut self, kind: SignalKind) -> Self {
        self.dumps.signal = Some(kind);
        self
    }

    /// A [dump](crate::Handle::dump) is made when a poll has held its worker for `after`, at most one a minute. Default: none.
    ///
    /// The reactor thread sees it at most 5 ms late, and starts a thread that makes the dump, and writes its text to the standard
    /// error, or hands it to the function of [`on_dump`](Self::on_dump). Polls inside
    /// [`block_in_place`](crate::block_in_place) do not count. An [embedded](crate::Builder::build_embedded) runtime ignores
    /// this setting.
    pub fn dump_on_stall(mut self, after: Duration) -> Self {
        self.dumps.stall = Some(after);
        self
    }

    /// `f` hears of each dump that the runtime makes by itself, in place of the standard error, on a thread that does nothing
    /// else. The end of the runtime waits for `f`, except by
    /// [`shutdown_background`](crate::Runtime::shutdown_background). A second call replaces the first.
    pub fn on_dump(mut self, f: impl Fn(&Dump) + Send + Sync + 'static) -> Self {
        self.dumps.hook = Arc::new(f);
        self
    }
}

/// When dumps are made, and what hears of them.
#[derive(Clone)]
pub(in crate::diagnose) struct Dumps {
    #[cfg(unix)]
    signal: Option<SignalKind>,
    stall: Option<Duration>,
    hook: DumpHook,
}

impl Default for Dumps {
    fn default() -> Self {
        Self {
            #[cfg(unix)]
            signal: None,
            stall: None,
            hook: Arc::new(print),
        }
    }
}

impl Dumps {
    #[cfg(unix)]
    pub(in crate::diagnose) fn on_signal(
        &self,
        subject: Arc<dyn Subject>,
        name: &str,
    ) -> io::Result<Option<OnSignal>> {
        let Some(kind) = self.signal else { return Ok(None) };
        OnSignal::start(kind.as_raw(), subject, Arc::clone(&self.hook), name).map(Some)
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on unix")]
    pub(in crate::diagnose) fn on_signal(
        &self,
        _: Arc<dyn Subject>,
        _: &str,
    ) -> io::Result<Option<OnSignal>> {
        Ok(None)
    }

    pub(in crate::diagnose) fn on_stall(&self) -> Option<StallSettings> {
        Some(StallSettings { after: self.stall?, hook: Arc::clone(&self.hook) })
    }
}

fn print(dump: &Dump) {
    // A program without a standard error goes on all the same.
    let _ = writeln!(io::stderr(), "colored: {dump}");
}
