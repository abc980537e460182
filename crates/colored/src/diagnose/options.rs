//! [`Options`]: how a runtime is diagnosed.

mod dumps;
mod trace;

use self::dumps::Dumps;
use self::trace::Trace;
use colored_core::LongPoll;
use colored_diagnose::report::Finding;
use colored_diagnose::{LongPollHook, Pace, WarningHook};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a runtime observes itself, and what it tells: for [`Builder::diagnose`](crate::Builder::diagnose).
///
/// A function that is given here must be quick, and must not wait: the thread that calls it does nothing else meanwhile.
#[derive(Clone)]
#[must_use = "options do nothing before `Builder::diagnose`"]
pub struct Options {
    pub(super) warnings: bool,
    pub(super) on_warning: Option<WarningHook>,
    pub(super) pace: Pace,
    pub(super) on_long_poll: Option<LongPollHook>,
    pub(super) inspect: Option<PathBuf>,
    pub(super) dumps: Dumps,
    pub(super) trace: Trace,
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl Options {
    /// The defaults: the runtime warns, and does nothing else by itself.
    pub fn new() -> Self {
        Self {
            warnings: true,
            on_warning: None,
            pace: Pace::DEFAULT,
            on_long_poll: None,
            inspect: None,
            dumps: Dumps::default(),
            trace: Trace::default(),
        }
    }

    /// Whether the runtime warns of faults that it finds in the program, such as a color that limits it. With `false`, and
    /// with the environment variable `COLORED_WARNINGS=0`, it does not. Default: yes.
    ///
    /// After its first 10 s, the runtime observes a second of each minute, as [`Handle::observe`](crate::Handle::observe)
    /// does, while something runs: an idle runtime is not looked at, nor is one with more than 100,000 colors in use; and with
    /// more than 10,000 tasks it does not look at what they wait for. It
    /// warns of a [kind of fault](super::report::Fault) once, and again only after two observations in a row have not
    /// found the fault, and a minute later at the earliest. Where the warnings go:
    /// [`on_warning`](Self::on_warning).
    ///
    /// Long polls have a hook and a line of their own, whatever is set here: [`on_long_poll`](Self::on_long_poll).
    pub fn warnings(mut self, warns: bool) -> Self {
        self.warnings = warns;
        self
    }

    /// How often the runtime is observed, when first, and for how long, in place of 60, 10 and 1 s: for tests.
    #[doc(hidden)]
    pub fn warning_pace(mut self, every: Duration, first: Duration, length: Duration) -> Self {
        self.pace = Pace { first, every, length };
        self
    }

    /// The reactor thread calls `f` for each [warning](Self::warnings). `f` must be quick: sockets and timers wait for
    /// it. The panic hook reports a panic of `f`, which goes no further. A second call replaces the first. Default: a line
    /// on the standard error, or with the feature `tracing` an event of the level `WARN`, with the target `colored` and
    /// the fields `fault`, `remedy` and `evidence`.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let options = colored::diagnose::Options::new().on_warning(|finding| eprintln!("{finding}"));
    /// let runtime = colored::Builder::new().diagnose(options).build()?;
    /// # drop(runtime);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_warning(mut self, f: impl Fn(&Finding) + Send + Sync + 'static) -> Self {
        self.on_warning = Some(Arc::new(f));
        self
    }

    /// The reactor thread calls `f` once for each long poll that it sees, while the poll goes on. `f` must be quick:
    /// sockets and timers wait for it. The panic hook reports a panic of `f`, which goes no further. A second call
    /// replaces the first. Default: a line on the standard error names the first one that
    /// takes a second, with the place of its task's spawn and what to do.
    ///
    /// ```
    /// # fn main() -> std::io::Result<()> {
    /// let options = colored::diagnose::Options::new().on_long_poll(|poll| eprintln!("{poll}"));
    /// let runtime = colored::Builder::new().diagnose(options).build()?;
    /// # drop(runtime);
    /// # Ok(())
    /// # }
    /// ```
    pub fn on_long_poll(mut self, f: impl Fn(&LongPoll) + Send + Sync + 'static) -> Self {
        self.on_long_poll = Some(Arc::new(f));
        self
    }

    /// The path of a Unix socket on which the runtime tells what it does, to the program `colored-top` and to scripts;
    /// [`inspect`](mod@super::inspect) describes the requests, the replies, who may read, and what it costs. A thread
    /// answers, `colored-inspect`. Default: the environment variable `COLORED_INSPECT`; without it there is neither the
    /// thread nor the socket.
    ///
    /// [`build`](crate::Builder::build) makes the file, with the mode 0600, and the end of the runtime removes it. It replaces the
    /// socket of a process that has ended. If a process listens there, also this one for another runtime, or the file is
    /// of another kind, `build` returns an error that names the path. The path has 80 bytes at most on most systems.
    /// Where the system has no Unix sockets, `build` returns an error.
    ///
    /// ```no_run
    /// # fn main() -> std::io::Result<()> {
    /// let options = colored::diagnose::Options::new().inspect("/run/user/1000/orders.sock");
    /// let runtime = colored::Builder::new().diagnose(options).build()?;
    /// # drop(runtime);
    /// # Ok(())
    /// # }
    /// ```
    pub fn inspect(mut self, path: impl Into<PathBuf>) -> Self {
        self.inspect = Some(path.into());
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("warnings", &self.warnings)
            .field("inspect", &self.inspect)
            .field("trace", &self.trace)
            .finish_non_exhaustive()
    }
}
